"""Models in files: JSON and ONNX."""
