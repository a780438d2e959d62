"""The page on which the results of a model are reviewed."""
