"""Tables of candidates: their formats (with the Parquet reader), columns, roles and sorting."""
