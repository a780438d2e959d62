"""Bringing the rows of every group together, for tables larger than memory."""

from groupcm.sorting.sort import SortedTable, sort_tables

__all__ = ["SortedTable", "sort_tables"]
