"""A fitted model as one ONNX graph: candidate scores, group scores and winners."""

from groupcm.persistence.onnx.export import export_onnx

__all__ = ["export_onnx"]
