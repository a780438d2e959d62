"""Where rows come from."""

from groupcm.sources.arrays import ArraySource

__all__ = ["ArraySource"]
