"""Candidates that the workers of a Dask cluster hold."""

from groupcm.sources.dask.source import from_dask

__all__ = ["from_dask"]
