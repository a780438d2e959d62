"""Selection of the regularisation: the λ path, one certified fit per λ."""

from groupcm.estimators.path import LambdaPath, lambda_grid, lambda_path

__all__ = ["LambdaPath", "lambda_grid", "lambda_path"]
