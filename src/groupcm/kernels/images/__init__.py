"""Compiled functions on pixels and regions."""
