"""Columns that nobody named, taken from what the tables say of themselves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from groupcm.data.tables.roles import ROLES, TableDescription, described
from groupcm.errors import InputError

__all__ = ["fill_in_columns", "measured_features", "require_columns"]


def fill_in_columns(arguments: argparse.Namespace) -> TableDescription | None:
    """Set each column option that was not given to what the tables say; return what they say.

    The objects that tables know go with their own labels only.
    """
    about = described(arguments.tables)
    if about is None:
        return None
    named = {role: getattr(arguments, role) for role in ROLES if role in arguments}
    for role, column in named.items():
        told = about.roles.get(role)
        if column is None and told not in named.values():
            setattr(arguments, role, told)
    has_own_labels = named.get("label") in (None, about.roles.get("label"))
    if named.get("object") is None and "object" in named and not has_own_labels:
        arguments.object = None
    return about


def measured_features(about: TableDescription | None) -> Sequence[str]:
    """Return the features that the recipe of a table of pictures measured; none of other tables."""
    return () if about is None or about.recipe is None else about.features


def require_columns(
    arguments: argparse.Namespace, about: TableDescription | None, roles: Sequence[str]
) -> None:
    """Refuse to go on where nobody says which column has a role."""
    for role in roles:
        if getattr(arguments, role) is not None:
            continue
        table = arguments.tables[0]
        if about is not None and role == "label":
            raise InputError(
                f"{table} has no labels, since it was made without annotations; make it again "
                "with --annotations, label it with groupcm images label, or give --label COL"
            )
        raise InputError(f"{table} does not say which column is the {role}; give --{role} COL")
