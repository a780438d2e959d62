"""Several models on the same folds, with the same budget."""
