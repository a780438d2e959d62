"""What a model and its notes say of pictures: the recipe, and which of its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from groupcm.errors import InputError
from groupcm.images.recipe import Recipe

__all__ = ["needed_part", "noted_recipe", "trained_names"]


def noted_recipe(notes: Mapping[str, Any], path: str) -> Recipe:
    """Return the recipe in the notes of a model file.

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
    """Return the features of a fitted model that are made by the recipe, in the model's order."""
    made = recipe.feature_names
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        wanted = getattr(model, "n_features_in_", len(made))
        if wanted != len(made):
            raise InputError(
                f"the model was trained with {wanted} features without names, and its recipe of "
                f"pictures makes {len(made)}; train it with names, which tell which they are"
            )
        return list(made)
    known = [str(name) for name in names]
    missing = [name for name in known if name not in made]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(
            f"the model was trained with the feature {missing[0]!r}{more}, which its recipe of "
            "pictures does not make here; make its table anew with groupcm images propose"
        )
    return known


def needed_part(recipe: Recipe, names: Sequence[str]) -> Recipe:
    """Return the recipe without the families that have none of these features."""
    used = tuple(family for family in recipe.features if not set(family.names).isdisjoint(names))
    return replace(recipe, features=used)
