"""Kernels on the pixels and regions of a picture."""
