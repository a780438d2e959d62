"""The transformers of scikit-learn that a model file can store, and the check of their state.

`TRANSFORMERS` declares for each class the attributes that ``transform`` relies on and the number of
features that it returns. The check is strict because some code of scikit-learn trusts its
attributes: categories that are not sorted, or that do not add up to the number of columns, would
produce a sparse matrix with entries outside its bounds. The attributes are those of scikit-learn
1.6 to 1.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from groupcm.features.base import FeatureMap
from groupcm.features.polynomial import count_monomials
from groupcm.persistence.encoding import is_plain
from groupcm.utils.fitted_state import (
    Array,
    Count,
    Expected,
    Fields,
    Flag,
    ListOf,
    Maybe,
    Names,
    Nullable,
    Number,
    Sizes,
    StateError,
    Text,
)
from groupcm.utils.state_check import (
    Part,
    check_attributes,
    check_model,
    require_threads,
    run_check,
)
from groupcm.utils.text import brief

__all__ = ["COMMON", "TRANSFORMERS", "Transformer", "check_transformer"]

_HIGHEST_DEGREE = 1_000
COMMON: dict[str, Expected] = {
    "n_features_in_": Count("features"),
    "feature_names_in_": Maybe(Names("features")),
    "_sklearn_output_config": Maybe(Fields(others=Nullable(Text()))),
}
_PREPROCESSING, _KERNELS = "sklearn.preprocessing", "sklearn.kernel_approximation"
_INDICES = Maybe(ListOf(Nullable(Array("i", None, low=0)), "features"))


def _same_width(_: Any, n_features: int) -> int:
    return n_features


@dataclass(frozen=True)
class Transformer:
    """A class of scikit-learn: its module, its fitted attributes, and its number of outputs."""

    module: str
    state: Mapping[str, Expected] = field(default_factory=dict)
    n_outputs: Callable[[Any, int], int] = _same_width


def check_transformer(transformer: Any, where: str, sizes: Sizes) -> tuple[int | None, int | None]:
    """Check the attributes of a fitted transformer against each other and its hyperparameters.

    Returns
    -------
    n_features_in, n_features_out : int or None
        None for a pipeline that passes any number of features through.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[0.0, 1.0], [1.0, 3.0]])
    >>> check_transformer(scaler, "scaler", Sizes())
    (2, 2)
    >>> scaler.scale_ = scaler.scale_[:1]
    >>> check_transformer(scaler, "scaler", Sizes())
    Traceback (most recent call last):
    groupcm.utils.fitted_state.StateError: scaler.scale_ has the shape (1,) instead of (2,):
    features from scaler.n_features_in_
    """
    name = type(transformer).__name__
    run_check(transformer._validate_params, where)
    require_threads(transformer, where)
    if name == "Pipeline":
        return _check_pipeline(transformer, where, sizes)
    known = TRANSFORMERS[name]
    check_attributes(transformer, {**COMMON, **known.state}, where, sizes)
    n_features = sizes.known["features"]
    n_outputs = run_check(lambda: known.n_outputs(transformer, n_features), where)
    sizes.agree("outputs", n_outputs, where)
    return n_features, n_outputs


def _check_pipeline(pipeline: Any, where: str, sizes: Sizes) -> tuple[int | None, int | None]:
    """Check that each step takes as many features as the previous one returns."""
    first = width = None
    for step in pipeline.steps:
        if not isinstance(step, tuple) or len(step) != 2 or not isinstance(step[0], str):
            raise StateError(f"{where}.steps must be pairs of a name and a transformer")
        name, transformer = step
        place = f"{where}.{brief(name)}"
        if transformer is None or isinstance(transformer, str):
            if transformer not in (None, "passthrough"):
                raise StateError(f"{place} must be a transformer, not {brief(transformer)}")
            continue
        if isinstance(transformer, FeatureMap):
            check_model(transformer, place, Sizes(sizes.most))
            taken, given = transformer.n_features_in_, transformer.n_features_out_
        elif type(transformer).__name__ in TRANSFORMERS:
            taken, given = check_transformer(transformer, place, Sizes(sizes.most))
        else:
            raise StateError(f"{place} must be a transformer, not {brief(transformer)}")
        if None not in (width, taken) and width != taken:
            raise StateError(f"{place} takes {taken} features, but receives {width}")
        first = taken if first is None and width is None else first
        width = width if given is None else given
    return first, width


def _values(*shape: str | None) -> Array:
    """Numbers of any value: a column without values has a mean of NaN."""
    return Array("f", *shape, finite=False)


class _Categories(Expected):
    """The distinct values of one feature, sorted; NaN, if it is one of them, is the last."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        Array("biuf", None, finite=False).check(value, where, sizes)
        known = value[:-1] if len(value) and value[-1] != value[-1] else value
        if not len(value) or not all(a < b for a, b in pairwise(known.tolist())):
            raise StateError(f"{where} must hold one category or more, sorted and distinct")


class _Edges(Expected):
    """An array with one array per feature: the edges of its bins, in ascending order."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind != "O" or value.ndim != 1:
            raise StateError(f"{where} must be an array of arrays")
        sizes.agree("features", len(value), where)
        for j, edges in enumerate(value):
            _values(None).check(edges, f"{where}[{j}]", sizes)
            if len(edges) < 2 or not (edges[1:] >= edges[:-1]).all():
                raise StateError(f"{where}[{j}] must hold two edges or more, in order")


class _Dropped(Expected):
    """For each feature the position of the category that is dropped, or None."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "iO":
            raise StateError(f"{where} must be an array of places")
        sizes.agree("features", len(value), where)
        for place in value.tolist():
            Nullable(Number(low=0, whole=True)).check(place, where, sizes)


class _Spline(Expected):
    """A spline of SciPy with the knots and coefficients of its degree."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        from scipy.interpolate import BSpline

        if not isinstance(value, BSpline):
            raise StateError(f"{where} must be a spline, not a {type(value).__name__}")


def _scaled(transformer: Any, n_features: int) -> int:
    for parameter, attribute in (
        ("with_mean", "mean_"),
        ("with_std", "scale_"),
        ("with_centering", "center_"),
        ("with_scaling", "scale_"),
    ):
        if getattr(transformer, parameter, False) and getattr(transformer, attribute) is None:
            raise StateError(f"{attribute} is None, although {parameter} is true")
    return n_features


def _in_range(transformer: Any, n_features: int) -> int:
    bounds = transformer.feature_range
    if len(bounds) != 2 or not all(is_plain(b) for b in bounds) or not bounds[0] < bounds[1]:
        raise StateError(f"feature_range must be two numbers that increase, not {brief(bounds)}")
    return n_features


def _powers(transformer: Any, n_features: int) -> int:
    if transformer.standardize and not hasattr(transformer, "_scaler"):
        raise StateError("_scaler is missing, although standardize is true")
    return n_features


def _monomials(transformer: Any, n_features: int) -> int:
    degree = transformer.degree
    least, most = (0, degree) if np.ndim(degree) == 0 else degree
    if (least, most) != (transformer._min_degree, transformer._max_degree):
        raise StateError(f"degree is {brief(degree)}, but it was fitted with another")
    if most > _HIGHEST_DEGREE:  # scikit-learn works through all of them, even where none is left
        raise StateError(f"degree is {brief(degree)}; it must be {_HIGHEST_DEGREE:,} at most")

    def count(up_to: int) -> int:
        if up_to < 1:
            return 0
        family = (up_to, bool(transformer.interaction_only), up_to)
        return count_monomials(n_features, *family, most=transformer._n_out_full)

    full = count(most) + bool(transformer.include_bias)
    wanted = full - count(least - 1)
    if (full, wanted) != (transformer._n_out_full, transformer.n_output_features_):
        raise StateError(
            f"n_output_features_ is {transformer.n_output_features_}, which is not the number of "
            f"monomials of {n_features} features up to degree {most}"
        )
    return wanted


def _splines(transformer: Any, n_features: int) -> int:
    degree = int(transformer.degree)
    n_splines = transformer.bsplines_[0].c.shape[-1]
    rows = n_splines + (degree if transformer.extrapolation == "periodic" else 0)
    for j, spline in enumerate(transformer.bsplines_):
        if spline.k != degree or spline.c.shape != (rows, n_splines):
            raise StateError(f"bsplines_[{j}] is not a spline of degree {degree} as the others are")
    wanted = n_features * (n_splines - 1 + bool(transformer.include_bias))
    if wanted != transformer.n_features_out_:
        raise StateError(f"n_features_out_ is {transformer.n_features_out_} instead of {wanted}")
    return wanted


def _bins(transformer: Any, n_features: int) -> int:
    counts = [len(edges) - 1 for edges in transformer.bin_edges_]
    if counts != transformer.n_bins_.tolist():
        raise StateError("n_bins_ are not the numbers of bins between bin_edges_")
    if transformer.encode == "ordinal":
        return n_features
    encoder = getattr(transformer, "_encoder", None)
    if encoder is None or [len(each) for each in encoder.categories_] != counts:
        raise StateError("_encoder does not have a category for each bin")
    return sum(encoder._n_features_outs)


def _one_hot(encoder: Any, n_features: int) -> int:
    counts = [len(each) for each in encoder.categories_]
    if encoder._infrequent_enabled:
        for j, (mapping, rare) in enumerate(
            zip(encoder._default_to_infrequent_mappings, encoder._infrequent_indices, strict=True)
        ):
            if (mapping is None) != (rare is None):
                raise StateError("_infrequent_indices do not fit _default_to_infrequent_mappings")
            if rare is None:
                continue
            n_left = counts[j] - len(rare) + 1
            if len(mapping) != counts[j] or not len(rare) or max(rare) >= counts[j]:
                raise StateError(f"_default_to_infrequent_mappings[{j}] does not fit categories_")
            if max(mapping) >= n_left:
                raise StateError(f"_default_to_infrequent_mappings[{j}] leads past the last column")
            counts[j] = n_left
    if encoder._drop_idx_after_grouping is not None:
        for j, dropped in enumerate(encoder._drop_idx_after_grouping.tolist()):
            if dropped is not None and dropped >= counts[j]:
                raise StateError(f"_drop_idx_after_grouping[{j}] is past the last category")
            counts[j] -= dropped is not None
    if encoder._n_features_outs != counts:
        raise StateError("_n_features_outs are not the numbers of categories_")
    return sum(counts)


def _chi2(sampler: Any, n_features: int) -> int:
    if sampler.sample_interval is None and sampler.sample_steps not in (1, 2, 3):
        raise StateError(f"sample_steps is {brief(sampler.sample_steps)}; it must be 1, 2 or 3")
    return n_features * (2 * int(sampler.sample_steps) - 1)


_FEATURES, _OUTPUTS = _values("features"), _values("outputs")


def _inner(name: str) -> Maybe:
    """A transformer that another one holds, with as many features."""
    return Maybe(Part(f"{_PREPROCESSING}.{name}", {"features": "n_features_in_"}))


# The fitted attributes are numbers, strings, arrays, and other transformers of this table.
TRANSFORMERS: dict[str, Transformer] = {
    "AdditiveChi2Sampler": Transformer(_KERNELS, n_outputs=_chi2),
    "KBinsDiscretizer": Transformer(
        _PREPROCESSING,
        {
            "bin_edges_": _Edges(),
            "n_bins_": Array("i", "features", low=1),
            "_encoder": _inner("_encoders.OneHotEncoder"),
        },
        _bins,
    ),
    "MaxAbsScaler": Transformer(_PREPROCESSING, {"scale_": _FEATURES, "max_abs_": _FEATURES}),
    "MinMaxScaler": Transformer(
        _PREPROCESSING,
        dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _FEATURES),
        _in_range,
    ),
    "Normalizer": Transformer(_PREPROCESSING),
    "Nystroem": Transformer(
        _KERNELS,
        {
            "components_": _values("outputs", "features"),
            "normalization_": _values("outputs", "outputs"),
            "component_indices_": Array("i", "outputs", low=0),
            "_n_features_out": Maybe(Count("outputs")),
        },
        lambda sampler, _: len(sampler.components_),
    ),
    "OneHotEncoder": Transformer(
        _PREPROCESSING,
        {
            "categories_": ListOf(_Categories(), "features"),
            "drop_idx_": Nullable(_Dropped()),
            "_drop_idx_after_grouping": Nullable(_Dropped()),
            "_n_features_outs": ListOf(Number(low=0, whole=True), "features"),
            "_infrequent_enabled": Flag(),
            "_infrequent_indices": _INDICES,
            "_default_to_infrequent_mappings": _INDICES,
        },
        _one_hot,
    ),
    "PCA": Transformer(
        "sklearn.decomposition",
        {
            "n_components_": Count("outputs"),
            "mean_": _FEATURES,
            "components_": _values("outputs", "features"),
            "explained_variance_": _OUTPUTS,
            "explained_variance_ratio_": _OUTPUTS,
            "singular_values_": _OUTPUTS,
        },
        lambda pca, _: len(pca.components_),
    ),
    "Pipeline": Transformer("sklearn.pipeline"),
    "PolynomialFeatures": Transformer(
        _PREPROCESSING,
        {
            "_min_degree": Number(low=0, whole=True),
            "_max_degree": Number(low=0, whole=True),
            "n_output_features_": Count("outputs"),
            "_n_out_full": Count("monomials"),
        },
        _monomials,
    ),
    "PowerTransformer": Transformer(
        _PREPROCESSING,
        {"lambdas_": _FEATURES, "_scaler": _inner("_data.StandardScaler")},
        _powers,
    ),
    "QuantileTransformer": Transformer(
        _PREPROCESSING,
        {
            "n_quantiles_": Count("quantiles"),
            "references_": Array("f", "quantiles", low=0.0, high=1.0, increasing=True),
            "quantiles_": _values("quantiles", "features"),
        },
    ),
    "RBFSampler": Transformer(
        _KERNELS,
        {
            "random_weights_": _values("features", "outputs"),
            "random_offset_": _OUTPUTS,
            "_n_features_out": Maybe(Count("outputs")),
        },
        lambda sampler, _: len(sampler.random_offset_),
    ),
    "RobustScaler": Transformer(
        _PREPROCESSING, dict.fromkeys(("center_", "scale_"), Nullable(_FEATURES)), _scaled
    ),
    "SplineTransformer": Transformer(
        _PREPROCESSING,
        {"bsplines_": ListOf(_Spline(), "features"), "n_features_out_": Count("outputs")},
        _splines,
    ),
    "StandardScaler": Transformer(
        _PREPROCESSING, dict.fromkeys(("mean_", "var_", "scale_"), Nullable(_FEATURES)), _scaled
    ),
}
