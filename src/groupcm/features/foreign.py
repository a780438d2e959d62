"""Blocks of rows through a transformer of scikit-learn's kind."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from groupcm.features.base import Matrix, Rows

__all__ = ["for_arrays", "transform_dense", "transform_into"]


def for_arrays(transformer: Any) -> Any:
    """The same fitted transformer, taking and giving arrays where it was used to data frames."""
    if transformer is None or isinstance(transformer, str):  # a step that passes rows through
        return transformer
    # Imported late: it brings most of scikit-learn with it, and few fits need it.
    from sklearn.pipeline import Pipeline

    bare = copy(transformer)
    if isinstance(transformer, Pipeline):
        bare.steps = [(name, for_arrays(step)) for name, step in transformer.steps]
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(bare).pop(name, None)
    return bare


def transform_dense(transformer: Any, rows: Matrix) -> Matrix:
    """What the transformer makes of rows, as a dense array."""
    mapped = transformer.transform(rows)
    return np.asarray(mapped.toarray() if sp.issparse(mapped) else mapped, np.float64)


def transform_into(transformer: Any, rows: Rows, out: Matrix) -> None:
    """Write what the transformer makes of rows to ``out``.

    Most transformers refuse a block for one bad value. Here its row becomes NaN, so that
    the pass that reads it can say which one it is.
    """
    good = np.isfinite(rows).all(axis=1)
    if not good.all() and _takes_nan(transformer):
        good = ~np.isinf(rows).any(axis=1)
    out[~good] = np.nan
    if not good.any():
        return
    chosen = slice(None) if good.all() else good
    mapped = transform_dense(transformer, rows[chosen].astype(np.float64, copy=False))
    if mapped.shape != out[chosen].shape:  # one column would fill all
        raise ValueError(
            f"{type(transformer).__name__} makes an array of shape {mapped.shape} of "
            f"{np.count_nonzero(good)} rows; {out.shape[1]} features are expected"
        )
    out[chosen] = mapped


def _takes_nan(transformer: Any) -> bool:
    return hasattr(transformer, "__sklearn_tags__") and get_tags(transformer).input_tags.allow_nan
