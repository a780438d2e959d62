"""Tables of candidates: formats, columns, roles and sorting."""
