"""What a table of candidates says of its own columns, so that nobody need name them again.

The description is JSON in the metadata of a Parquet file's schema, under the key ``groupcm``:

    {"version": 1,
     "roles": {"group": "picture", "label": "label", "overlap": "overlap", …},
     "features": ["colour_l", …],
     "recipe": {…}}

Columns that have no role and are no features are there to be looked at. Other kinds of files have
no description.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupcm.data.tables.formats import find_tables, is_parquet, open_table
from groupcm.errors import InputError

__all__ = ["ROLES", "TableDescription", "agreed", "describe", "described", "description_of"]

ROLES = ("group", "label", "overlap", "patient", "object", "weight")
_KEY = b"groupcm"
_VERSION = 1


@dataclass(frozen=True)
class TableDescription:
    """Which columns of a table mean what.

    Attributes
    ----------
    roles
        The column of each role that has one; see `ROLES`.
    features
        The feature columns, in their order.
    recipe
        How the candidates were made, as `groupcm.images.recipe.Recipe.to_json` tells it; None
        where nobody knows.

    Examples
    --------
    >>> about = TableDescription({"group": "picture"}, ("size",))
    >>> schema = describe(pa.schema({"picture": pa.string(), "size": pa.float32()}), about)
    >>> description_of(schema) == about
    True
    """

    roles: Mapping[str, str]
    features: tuple[str, ...]
    recipe: Mapping[str, Any] | None = None


def describe(schema: pa.Schema, description: TableDescription) -> pa.Schema:
    """Return the schema with the description in its metadata; other metadata stay."""
    plain = {
        "version": _VERSION,
        "roles": dict(description.roles),
        "features": list(description.features),
        "recipe": description.recipe,
    }
    told = json.dumps(plain, ensure_ascii=False).encode()
    return schema.with_metadata({**(schema.metadata or {}), _KEY: told})


def description_of(schema: pa.Schema, path: str | Path = "the table") -> TableDescription | None:
    """What a schema says of its columns; None where it says nothing.

    Columns that were taken out of the table since are left out.

    Parameters
    ----------
    path
        How an error calls the table.

    Examples
    --------
    >>> description_of(pa.schema({"size": pa.float32()})) is None
    True
    >>> description_of(pa.schema({}, metadata={"groupcm": "{"}), "frames.parquet")
    Traceback (most recent call last):
    groupcm.errors.InputError: frames.parquet describes its columns in a way that cannot be read;
    write the table again, or leave its metadata out
    """
    told = (schema.metadata or {}).get(_KEY)
    if told is None:
        return None
    try:
        plain = json.loads(told)
        version = plain["version"]
        if isinstance(version, int) and version > _VERSION:
            raise InputError(
                f"{path} describes its columns in the form {version}, newer than {_VERSION}, the "
                "newest that is known here; install a newer groupcm"
            )
        roles = {str(role): str(column) for role, column in plain["roles"].items()}
        features = tuple(map(str, plain["features"]))
        recipe = plain.get("recipe")
        if recipe is not None and not isinstance(recipe, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} describes its columns in a way that cannot be read; write the table again, "
            "or leave its metadata out"
        ) from error
    there = set(schema.names)
    roles = {role: column for role, column in roles.items() if column in there}
    return TableDescription(roles, tuple(name for name in features if name in there), recipe)


def described(paths: Sequence[str | Path]) -> TableDescription | None:
    """What some tables, or the tables of folders, say of their columns; they must agree.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,size\\n1,2.5\\n")
    >>> described([path]) is None
    True
    """
    files = find_tables(paths)
    return agreed([(path, open_table(path).schema if is_parquet(path) else None) for path in files])


def agreed(tables: Sequence[tuple[Path, pa.Schema | None]]) -> TableDescription | None:
    """What the schemas of several tables say together; None where none says anything."""
    told = [
        (path, None if schema is None else description_of(schema, path)) for path, schema in tables
    ]
    first = next((path for path, about in told if about is not None), None)
    if first is None:
        return None
    about = dict(told)[first]
    for path, other in told:
        if other is None:
            raise InputError(
                f"{first} describes its columns and {path} does not; use tables that were made "
                "in the same way"
            )
        for what, words in _WORDS.items():
            if getattr(other, what) != getattr(about, what):
                raise InputError(
                    f"{first} and {path} describe different {words}; "
                    "use tables that were made in the same way"
                )
    return about


_WORDS = {
    "roles": "columns of groups, labels and the like",
    "features": "features",
    "recipe": "recipes of candidates",
}
