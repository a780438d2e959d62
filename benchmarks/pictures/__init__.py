"""The paper's claim on real pictures: grouping against single candidates, paired over folds."""
