"""The benchmark of the pages."""
