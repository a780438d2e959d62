"""Recipes: how candidates are proposed in a picture and which features they get.

A recipe is a few plain values that are stored in candidate tables and models. `noted_recipe`,
`trained_names` and `needed_part` return what a model file and a fitted model need of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np

from groupcm.annotations import Region
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.images.features import DEFAULT_FAMILIES, STORED_FAMILIES
from groupcm.images.features.network_family import NetworkFamily
from groupcm.images.features.user_families import (
    field_types,
    registered_families,
)
from groupcm.images.highlights import HIGHLIGHTS, fill_highlights
from groupcm.images.proposals import PROPOSERS, Given, Proposals, Windows
from groupcm.images.reading import Pixels
from groupcm.images.regions import Regions
from groupcm.images.view import View, resized
from groupcm.utils.typing import Float32, Index

__all__ = [
    "FeatureFamily",
    "PictureCandidates",
    "Recipe",
    "needed_part",
    "noted_recipe",
    "trained_names",
]

# Recipes that keep highlights are written in the first form, which older versions read.
_FIRST_VERSION, _VERSION = 1, 2
_LONGEST_SIDE = 512
# A recipe may come from an untrusted model: no value is larger than this, nor of another type.
_LARGEST = 10_000
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "str | None": (str, type(None)),
}


class FeatureFamily(Protocol):
    """A family of features of candidates, with the same names for every picture."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def measure(self, view: View, regions: Regions) -> Float32: ...


@dataclass(frozen=True, eq=False)
class PictureCandidates:
    """The candidates of one picture.

    Attributes
    ----------
    regions
        The regions, in pixels of the original picture.
    values
        The features, shape (n, d).
    """

    regions: Regions
    values: Float32


@dataclass(frozen=True)
class Recipe:
    """A deterministic map from the pixels of a picture to candidates with features.

    Parameters
    ----------
    proposals
        The proposers of candidates.
    features
        Families of features, in their order.
    longest_side
        Larger pictures are downscaled to this side. The regions of candidates are in pixels of
        the original picture nevertheless.
    highlights : {"keep", "fill"}
        Whether specular highlights are filled in before candidates are found and measured; see
        `groupcm.images.highlights`.

    Examples
    --------
    >>> from groupcm.images.synthetic import make_frames
    >>> frame = next(make_frames(1, height=48, width=64))
    >>> recipe = Recipe()
    >>> found = recipe.candidates(frame.pixels)
    >>> found.values.shape == (len(found.regions), len(recipe.feature_names))
    True
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    proposals: Proposals = field(default_factory=Proposals.default)
    features: tuple[FeatureFamily, ...] = DEFAULT_FAMILIES
    longest_side: int = _LONGEST_SIDE
    highlights: str = "keep"

    def __post_init__(self) -> None:
        if self.longest_side < 1:
            raise ParameterError(
                Argument("longest_side"), f" is {self.longest_side}; it must be 1 or more"
            )
        if self.highlights not in HIGHLIGHTS:
            raise ParameterError(
                Argument("highlights"), f" is {self.highlights!r}; it must be 'keep' or 'fill'"
            )
        names = self.feature_names
        if not names:
            raise ValueError("the recipe has no features; it needs one family or more")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"two features are called {twice[0]!r}; take each family once")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features, in the order of the values."""
        return tuple(name for family in self.features for name in family.names)

    def candidates(
        self, pixels: Pixels, given: Sequence[Region] | None = None
    ) -> PictureCandidates:
        """Return the candidates of a picture with their features.

        Parameters
        ----------
        pixels
            As `groupcm.images.reading.read_picture` returns them.
        given
            The detections of the user's own detector, for a recipe that requires them.
        """
        height, width = pixels.shape[:2]
        whole = None
        if given is not None:
            whole = Regions.of(given, height, width, what="given candidate")
        view, regions, origin = self.proposed(pixels, whole)
        parts = [family.measure(view, regions) for family in self.features]
        regions = resized(regions, height, width)
        if whole is not None:
            # Given candidates return to the regions they had before downscaling.
            places = np.where(origin >= 0, len(regions) + origin, np.arange(len(regions)))
            regions = Regions.joined([regions, whole]).take(places)
        return PictureCandidates(regions, np.concatenate(parts, axis=1))

    def proposed(self, pixels: Pixels, given: Regions | None) -> tuple[View, Regions, Index]:
        """Return a picture and its candidates, without features, at the size of the work.

        The last part is the index of each candidate in ``given``, or -1.
        """
        view = self._view(pixels)
        if given is not None:
            view.given = resized(given, view.height, view.width)
        return view, *self.proposals.with_origin(view)

    def measured(self, pixels: Pixels, regions: Regions) -> Float32:
        """Return the features of regions of a picture that are known already, shape (n, d).

        The pixels may be those of the picture at another size.
        """
        view = self._view(pixels)
        there = resized(regions, view.height, view.width)
        return np.concatenate([each.measure(view, there) for each in self.features], axis=1)

    def _view(self, pixels: Pixels) -> View:
        view = View.of(pixels, self.longest_side)
        return view if self.highlights == "keep" else View(fill_highlights(view.rgb))

    def prepare(self) -> None:
        """Load the compiled kernels, for which the first picture would wait otherwise."""
        found = [part for part in self.proposals.parts if not isinstance(part, Given)]
        view = View.of(np.zeros((16, 16, 3), dtype=np.uint8))
        regions = Proposals((*found, Windows())).propose(view)
        for family in self.features:
            if isinstance(family, tuple(map(type, DEFAULT_FAMILIES))):
                family.measure(view, regions)

    @property
    def is_fitted(self) -> bool:
        """Whether the features can be computed; see `groupcm.images.fit_recipe`."""
        return all(getattr(family, "is_fitted", True) for family in self.features)

    def with_cache(self, folder: str | os.PathLike[str] | None) -> Recipe:
        """Return the recipe with a folder for the embeddings by networks; None for none.

        Embeddings of the same pictures and candidates are then computed once. The folder is not
        part of what `to_json` returns.
        """
        cache = None if folder is None else os.fspath(folder)
        families = tuple(
            family.changed(cache=cache) if isinstance(family, NetworkFamily) else family
            for family in self.features
        )
        return replace(self, features=families)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        known = STORED_FAMILIES | registered_families()
        changed = {} if self.highlights == "keep" else {"highlights": self.highlights}
        every = [_to_plain(family, known) for family in self.features]
        features = _each_network_once([dict(family) for family in every])
        return {
            "version": _FIRST_VERSION if not changed and features == every else _VERSION,
            **changed,
            "longest_side": self.longest_side,
            "at_most": self.proposals.at_most,
            "distinct": self.proposals.distinct,
            "proposals": [_to_plain(part, PROPOSERS) for part in self.proposals.parts],
            "features": features,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Recipe:
        """Return the recipe of the values of `to_json`.

        Examples
        --------
        >>> Recipe.from_json({"version": 99})
        Traceback (most recent call last):
        ValueError: the recipe has the form 99, newer than 2, the newest that is known here
        """
        version = plain.get("version")
        if not isinstance(version, int) or version > _VERSION:
            raise ValueError(
                f"the recipe has the form {version}, newer than {_VERSION}, "
                "the newest that is known here"
            )
        _require_type("longest_side", plain["longest_side"], "int", largest=None)
        _require_type("at_most", plain["at_most"], "int", largest=None)
        _require_type("distinct", plain["distinct"], "float")
        parts = tuple(_from_plain(part, PROPOSERS, "proposal") for part in plain["proposals"])
        proposals = Proposals(parts, at_most=plain["at_most"], distinct=plain["distinct"])
        features = tuple(
            _from_plain(part, STORED_FAMILIES | registered_families(), "family of features")
            for part in _with_networks_of_others(plain["features"])
        )
        highlights = plain.get("highlights", "keep")
        _require_type("highlights", highlights, "str")
        return cls(proposals, features, plain["longest_side"], highlights)


def _each_network_once(families: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Store the content of a network with the first of the families that use it."""
    stored = set()
    for family in families:
        if isinstance(family.get("content"), str) and "sha256" in family:
            if family["sha256"] in stored:
                family["content"] = None
            stored.add(family["sha256"])
    return families


def _with_networks_of_others(families: Sequence[Any]) -> Iterator[Any]:
    """Return families with the content of their network, which an earlier one may store."""
    stored: dict[str, Any] = {}
    for family in families:
        if isinstance(family, Mapping) and {"sha256", "content"} <= family.keys():
            content = family["content"] or stored.get(str(family["sha256"]))
            stored[str(family["sha256"])] = content
            family = {**family, "content": content}
        yield family


def _to_plain(part: Any, known: Mapping[str, type]) -> dict[str, Any]:
    kind = next((name for name, each in known.items() if type(part) is each), None)
    if kind is None:
        name = type(part).__name__
        generic = (
            f"{name} cannot be written into a recipe, which knows {', '.join(known)}; register "
            "a class of your own with groupcm.images.register_family"
        )
        raise ValueError(getattr(part, "cannot_be_written", generic))
    values = {each.name: getattr(part, each.name) for each in fields(part)}
    return {"kind": kind} | {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _from_plain(plain: Mapping[str, Any], known: Mapping[str, type], what: str) -> Any:
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()}
    kind: Any = values.pop("kind", None)
    if kind not in known:
        if isinstance(kind, str) and "." in kind:
            raise ValueError(
                f"the {what} {kind} is code of the user, which no file can bring along; pass it "
                f"with --family {kind}, or register it with groupcm.images.register_family"
            )
        raise ValueError(f"there is no {what} {kind!r}; choose from {', '.join(known)}")
    allowed = field_types(known[kind])
    for name, value in values.items():
        if name not in allowed:
            raise ValueError(
                f"the {what} {kind!r} has no hyperparameter {name!r}; it has "
                + (", ".join(sorted(allowed)) or "none")
            )
        _require_type(f"{name} of the {what} {kind!r}", value, allowed[name])
    return known[kind](**values)


def _require_type(name: str, value: Any, wanted: str, largest: float | None = _LARGEST) -> None:
    """Raise `ValueError` for a value that is not of the declared type, or is too large."""
    if wanted.startswith("tuple["):
        if not isinstance(value, tuple) or len(value) > _LARGEST:
            raise ValueError(f"{name} must be a list of numbers")
        for each in value:
            _require_type(name, each, wanted.removeprefix("tuple[").partition(",")[0], largest)
        return
    is_right = isinstance(value, _TYPES[wanted]) and isinstance(value, bool) == (wanted == "bool")
    if not is_right:
        raise ValueError(f"{name} must be of the type {wanted}, not a {type(value).__name__}")
    if isinstance(value, int | float) and largest is not None and not abs(value) <= largest:
        raise ValueError(f"{name} is {value!r}; it must be {largest:,} at most")


def noted_recipe(notes: Mapping[str, Any], path: str) -> Recipe:
    """Return the recipe stored in the notes of a model file.

    Examples
    --------
    >>> noted_recipe({}, "model.json")
    Traceback (most recent call last):
    groupcm.errors.InputError: model.json was trained on a table without pictures; make the table
    with groupcm images propose
    """
    plain = notes.get("recipe")
    if plain is None:
        raise InputError(
            f"{path} was trained on a table without pictures; "
            "make the table with groupcm images propose"
        )
    try:
        return Recipe.from_json(plain)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"the recipe of pictures in {path} is damaged; train the model again"
        ) from error
    except ValueError as error:
        raise InputError(f"the recipe of pictures in {path} cannot be followed: {error}") from error


def trained_names(model: Any, recipe: Recipe) -> list[str]:
    """Return the features of a fitted model, which the recipe must provide, in its order."""
    provided = recipe.feature_names
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        wanted = getattr(model, "n_features_in_", len(provided))
        if wanted != len(provided):
            raise InputError(
                f"the model was trained with {wanted} features without names, and its recipe of "
                f"pictures makes {len(provided)}; train it with named features"
            )
        return list(provided)
    known = [str(name) for name in names]
    missing = [name for name in known if name not in provided]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(
            f"the model was trained with the feature {missing[0]!r}{more}, which its recipe of "
            "pictures does not produce here; make its table again with groupcm images propose"
        )
    return known


def needed_part(recipe: Recipe, names: Sequence[str]) -> Recipe:
    """Return the recipe without the families of which none of these features is."""
    used = tuple(family for family in recipe.features if not set(family.names).isdisjoint(names))
    return replace(recipe, features=used)
