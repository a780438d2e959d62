"""The name by which experiments know `groupcm.gathered_warnings`."""

from groupcm.gathered_warnings import gathered_warnings

__all__ = ["gathered_warnings"]
