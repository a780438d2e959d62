"""Selection of the regularisation: the λ path, one certified fit per λ on shared passes."""

from groupcm.estimators.path import LambdaPath, lambda_grid, lambda_path

__all__ = ["LambdaPath", "lambda_grid", "lambda_path"]
