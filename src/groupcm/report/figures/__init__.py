"""Figures drawn from numbers, one family a file."""
