"""The choices of a training on a folder of pictures, in Python and as a TOML file."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from groupcm.errors import Argument, FileName, InputError, ParameterError
from groupcm.estimators.table_threshold import SPECIFICITY
from groupcm.evaluation.model_choice import MODELS
from groupcm.images.recipe import Recipe
from groupcm.images.recipe_options import N_COMPONENTS, NETWORK_MODES, recipe_named

__all__ = ["TrainingChoices", "read_choices"]

_MODELS = (*MODELS, "auto")


@dataclass(frozen=True)
class TrainingChoices:
    """Every choice of `train_folder`; ``train.toml`` stores them under the same names.

    Parameters
    ----------
    annotations : str, optional
        A file or folder of annotations in any format; by default it is searched for.
    patients : str, optional
        A CSV file, ``FILE.csv:COLUMN``, "folders" or a pattern; see
        `groupcm.images.picture_set.read_picture_set`.
    category : tuple of str
        The categories of objects to find; by default all.
    unannotated : {"auto", "negative", "leave_out"}
        Pictures without any annotation.
    mask_values : {"binary", "object", "category"}, optional
        What the values of masks mean, if there are several.
    windows : str, optional
        A CSV file of windows that are pictures of their own; see
        `groupcm.images.cropping.read_windows`.
    test_share : float, default=0.25
        The share of patients, or of pictures where patients are not known, that is held out.
    model : {"auto", "linear", "trees"}
        With "auto" both are tried on a quarter of the training patients, and the better is kept.
    place : {"linear", "trees"}, optional
        A second model, fitted to the pictures with an object alone, that chooses the candidate that
        locates it; see `groupcm.estimators.place`.
    refine : bool, default=False
        In scores and overlays, join or trim that candidate; see
        `groupcm.images.scoring.vote.refine`.
    specificity : float, default=0.9
        The specificity that the threshold keeps on groups that folds left out.
    proposals, features : tuple of str
        See `groupcm.images.recipe_options.recipe_named`; by default those of `Recipe`.
    network, network_mode, components, crop_size, context, family, at_most, longest_side :
        See `groupcm.images.recipe_options.recipe_named`.
    cache : str, optional
        The folder for the outputs of networks; by default ``cache`` in the output folder. With one
        folder for several trainings, the same pictures are not computed again.
    highlights : {"keep", "fill"}
        Whether specular highlights are filled in; see `groupcm.images.highlights`.
    augment : int, default=0
        Changed copies of each training picture; see `groupcm.images.augmentation`.
    skip_unreadable : bool, default=False
        List pictures that cannot be read and continue without them.
    workers : int, optional
        The number of processes; by default one per core.
    seed : int, default=0
        Which patients are held out, and the random numbers of the models.

    Examples
    --------
    >>> TrainingChoices(model="forest")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: model is 'forest'; it must be one of 'linear', 'trees', 'auto'
    """

    annotations: str | None = None
    patients: str | None = None
    category: tuple[str, ...] = ()
    unannotated: str = "auto"
    mask_values: str | None = None
    windows: str | None = None
    test_share: float = 0.25
    model: str = "auto"
    place: str | None = None
    refine: bool = False
    specificity: float = SPECIFICITY
    proposals: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    network_mode: str = "auto"
    components: int = N_COMPONENTS
    crop_size: int | None = None
    context: tuple[float, ...] = ()
    family: tuple[str, ...] = ()
    cache: str | None = None
    at_most: int | None = None
    longest_side: int | None = None
    highlights: str = "keep"
    augment: int = 0
    skip_unreadable: bool = False
    workers: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        known = {"model": _MODELS, "network_mode": NETWORK_MODES, "place": MODELS}
        for name, values in known.items():
            value = getattr(self, name)
            if value not in values and (name, value) != ("place", None):
                raise ParameterError(
                    Argument(name),
                    f" is {value!r}; it must be one of {', '.join(map(repr, values))}",
                )
        if not 0.0 < self.test_share <= 0.5:
            raise ParameterError(
                Argument("test_share"),
                f" is {self.test_share:g}; it must be above 0 and at most 0.5",
            )
        if not 0.0 <= self.specificity <= 1.0:
            raise ParameterError(
                Argument("specificity"),
                f" is {self.specificity:g}; it is a share, between 0 and 1",
            )

    @property
    def recipe(self) -> Recipe:
        """The recipe of candidates and features."""
        return recipe_named(
            self.proposals or None,
            self.features or None,
            network=self.network,
            network_mode=self.network_mode,
            components=self.components,
            crop_size=self.crop_size,
            context=self.context,
            family=self.family,
            at_most=self.at_most,
            longest_side=self.longest_side,
            highlights=self.highlights,
        )

    def to_toml(self) -> str:
        """Return the choices as TOML; those that are left to the library are comments."""
        lines = ["# Every choice of this training; groupcm images train --config reads it."]
        for name, value in asdict(self).items():
            if value is None or value == ():
                lines.append(f"# {name} = (default)")
            else:
                lines.append(f"{name} = {_toml(value)}")
        return "\n".join(lines) + "\n"


def read_choices(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the choices of a TOML file, such as the ``train.toml`` of an earlier training.

    Returns
    -------
    dict
        Some of the parameters of `TrainingChoices`, checked for their names and types.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.toml"
    >>> _ = path.write_text('model = "trees"\\ntest_share = 0.5\\n')
    >>> read_choices(path)
    {'model': 'trees', 'test_share': 0.5}
    """
    path = Path(path)
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(FileName(path), f" cannot be read as TOML: {error}") from error
    kinds = {each.name: str(each.type) for each in fields(TrainingChoices)}
    choices: dict[str, Any] = {}
    for name, value in found.items():
        if name not in kinds:
            raise InputError(
                FileName(path), f": there is no choice {name!r}; choose from {', '.join(kinds)}"
            )
        if not _is_of(value, kinds[name]):
            raise InputError(
                FileName(path), f": {name} is {value!r}; it must be of the type {kinds[name]}"
            )
        choices[name] = tuple(value) if isinstance(value, list) else value
    return choices


def _is_of(value: Any, kind: str) -> bool:
    if kind.startswith("tuple"):
        of_each = kind.removeprefix("tuple[").partition(",")[0]
        return isinstance(value, list) and all(_is_of(each, of_each) for each in value)
    types = {"str": str, "int": int, "float": (int, float), "bool": bool}
    wanted = types[kind.partition(" ")[0]]
    return isinstance(value, wanted) and isinstance(value, bool) == (kind == "bool")


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
