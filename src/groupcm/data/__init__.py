"""Groups of candidates, labels, folds and tables: what the user passes, checked."""
