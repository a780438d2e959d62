"""The paper's experiment on synthetic data, and the value of annotation on the user's own data."""
