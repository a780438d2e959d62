"""The recipe that options ask for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from groupcm.errors import InputError
from groupcm.images.features import FAMILIES
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.proposals import PROPOSERS, Given, Proposals
from groupcm.images.recipe import Recipe

__all__ = ["recipe_of"]


def recipe_of(arguments: argparse.Namespace) -> Recipe:
    """Make a recipe from ``--proposals``, ``--features``, ``--network`` and the like.

    Examples
    --------
    >>> options = argparse.Namespace(
    ...     proposals=["windows"], features=["shape"], at_most=9, longest_side=None, given=None,
    ...     network=[],
    ... )
    >>> recipe_of(options).to_json()["proposals"][0]["kind"]
    'windows'
    """
    recipe, proposals = Recipe(), Proposals.default()
    if arguments.proposals is not None:
        proposals = replace(proposals, parts=_parts(arguments.proposals, proposals))
    elif arguments.given is not None:
        proposals = replace(proposals, parts=(Given(), *proposals.parts))
    if arguments.at_most is not None:
        proposals = replace(proposals, at_most=arguments.at_most)
    recipe = replace(recipe, proposals=proposals)
    families = recipe.features
    if arguments.features is not None:
        ready = [name for name in arguments.features if name != "network"]
        if len(ready) < len(arguments.features) and not arguments.network:
            raise InputError("--features names network; give one with --network FILE")
        families = _made(ready, FAMILIES, "--features")
    if arguments.network:
        families += tuple(_networks(arguments.network))
    recipe = replace(recipe, features=families)
    if arguments.longest_side is not None:
        recipe = replace(recipe, longest_side=arguments.longest_side)
    return recipe


def _networks(files: Sequence[str]) -> Iterator[NetworkEmbedding]:
    for number, file in enumerate(files):
        # Features of two networks need names of their own.
        name = "embedding" if len(files) == 1 else f"embedding{number + 1}"
        yield NetworkEmbedding.of(file, name=name)


def _parts(wanted: Sequence[str], default: Proposals) -> tuple[Any, ...]:
    """The default's own parts of each kind, so that naming all of them changes nothing."""
    made = _made(wanted, PROPOSERS, "--proposals")
    known = [[part for part in default.parts if type(part) is type(each)] for each in made]
    return tuple(part for each, parts in zip(made, known, strict=True) for part in parts or [each])


def _made(wanted: Sequence[str], known: Mapping[str, type], option: str) -> tuple[Any, ...]:
    for name in wanted:
        if name not in known:
            raise InputError(f"{option}: there is no {name!r}; there are {', '.join(known)}")
        if wanted.count(name) > 1:
            raise InputError(f"{option}: {name!r} is named twice; name it once")
    return tuple(known[name]() for name in wanted)
