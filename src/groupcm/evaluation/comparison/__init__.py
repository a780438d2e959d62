"""The comparison of several models on the same folds, with the same budget."""
