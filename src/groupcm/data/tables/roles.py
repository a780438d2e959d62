"""The roles of the columns of candidate tables, and the description that a table can carry of them.

The description is JSON in the metadata of a Parquet file's schema, under the key ``groupcm``:

    {"version": 1,
     "roles": {"group": "picture", "label": "label", "overlap": "overlap", …},
     "features": ["colour_l", …],
     "recipe": {…}}

Columns that have no role and are not features are there to be looked at. Other kinds of files have
no description.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupcm.data.tables.formats import find_tables, is_parquet, open_table
from groupcm.errors import Argument, InputError

__all__ = ["ColumnRoles", "TableDescription", "agreed", "describe", "described", "description_of"]

_KEY = b"groupcm"
_VERSION = 1
_WORDS = {
    "roles": "columns of groups, labels and the like",
    "features": "features",
    "recipe": "recipes of candidates",
}


@dataclass(frozen=True, eq=False)
class ColumnRoles(Mapping[str, str]):
    """The column of each role that is not a feature: a mapping of the roles that have a column.

    Attributes
    ----------
    group : str or None
        The group of a candidate.
    label : str or None
        Its class.
    overlap : str or None
        How well it fits an annotated object.
    patient : str or None
        The patient it belongs to.
    annotated : str or None
        Whether its group is annotated.
    object : str or None
        The object that a positive candidate shows.
    weight : str or None
        How much it counts in a fit, its ``sample_weight``.

    Examples
    --------
    >>> roles = ColumnRoles(group="frame", label="polyp")
    >>> dict(roles), roles.patient
    ({'group': 'frame', 'label': 'polyp'}, None)
    """

    group: str | None = None
    label: str | None = None
    overlap: str | None = None
    patient: str | None = None
    annotated: str | None = None
    object: str | None = None
    weight: str | None = None

    @classmethod
    def of(cls, columns: Mapping[str, str | None]) -> ColumnRoles:
        """Return the roles that a mapping names; what is not a role is left out.

        Examples
        --------
        >>> ColumnRoles.of({"group": "frame", "colour": "red"})
        ColumnRoles(group='frame')
        """
        return cls(**{name: columns[name] for name in cls.names() if name in columns})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all roles."""
        return tuple(field.name for field in fields(cls))

    def __getitem__(self, role: str) -> str:
        column = getattr(self, role, None) if role in self.names() else None
        if column is None:
            raise KeyError(role)
        return column

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names() if getattr(self, name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        given = ", ".join(f"{role}={column!r}" for role, column in self.items())
        return f"ColumnRoles({given})"

    def filled_in(self, about: TableDescription | None, roles: Sequence[str]) -> ColumnRoles:
        """Return the roles with columns that the tables describe, where none was given.

        Parameters
        ----------
        about : TableDescription or None
            What the tables say of themselves. Their objects belong to their own labels, and are
            left out with others.
        roles : sequence of str
            The roles to fill in.

        Examples
        --------
        >>> about = TableDescription(ColumnRoles("picture", "label", object="object"), ("size",))
        >>> ColumnRoles().filled_in(about, ["group", "label", "object"])
        ColumnRoles(group='picture', label='label', object='object')
        >>> ColumnRoles(label="other").filled_in(about, ["group", "label", "object"])
        ColumnRoles(group='picture', label='other')
        """
        if about is None:
            return self
        taken = set(self.values())
        has_own_labels = self.label in (None, about.roles.label)
        new = {
            role: about.roles.get(role)
            for role in roles
            if role not in self and about.roles.get(role) not in taken
        }
        if not has_own_labels:
            new.pop("object", None)
        return replace(self, **new)

    def require(self, roles: Sequence[str], table: str | Path, about: Any = None) -> None:
        """Raise where a role has no column.

        Parameters
        ----------
        roles : sequence of str
            The roles that are needed.
        table : str or Path
            The table that an error names.
        about : TableDescription or None
            How the table describes itself.

        Examples
        --------
        >>> ColumnRoles().require(["group"], "frames.csv")
        Traceback (most recent call last):
        groupcm.errors.InputError: frames.csv does not record which column is the group; name it
        with group
        """
        for role in roles:
            if role in self:
                continue
            if about is not None and role == "label":
                raise InputError(
                    f"{table} has no labels, since it was made without annotations; make it again "
                    "with annotations, label it with groupcm images label, or name a column with ",
                    Argument("label"),
                )
            raise InputError(
                f"{table} does not record which column is the {role}; name it with ", Argument(role)
            )


@dataclass(frozen=True)
class TableDescription:
    """The description that a table carries of its columns.

    Attributes
    ----------
    roles : ColumnRoles
        The column of each role that has one.
    features : tuple of str
        The feature columns, in their order.
    recipe : mapping or None
        How the candidates were made, as `groupcm.images.recipe.Recipe.to_json` returns it; None
        where it is not known.

    Examples
    --------
    >>> about = TableDescription(ColumnRoles(group="picture"), ("size",))
    >>> schema = describe(pa.schema({"picture": pa.string(), "size": pa.float32()}), about)
    >>> description_of(schema) == about
    True
    """

    roles: ColumnRoles
    features: tuple[str, ...]
    recipe: Mapping[str, Any] | None = None

    @property
    def measured(self) -> tuple[str, ...]:
        """The features that a recipe measured in pictures; none of other tables."""
        return () if self.recipe is None else self.features


def describe(schema: pa.Schema, description: TableDescription) -> pa.Schema:
    """Return the schema with the description in its metadata; other metadata stay."""
    plain = {
        "version": _VERSION,
        "roles": dict(description.roles),
        "features": list(description.features),
        "recipe": description.recipe,
    }
    content = json.dumps(plain, ensure_ascii=False).encode()
    return schema.with_metadata({**(schema.metadata or {}), _KEY: content})


def description_of(schema: pa.Schema, path: str | Path = "the table") -> TableDescription | None:
    """Return the description of columns in a schema; None if there is none.

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
    content = (schema.metadata or {}).get(_KEY)
    if content is None:
        return None
    try:
        plain = json.loads(content)
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
    return TableDescription(
        ColumnRoles.of(roles), tuple(name for name in features if name in there), recipe
    )


def described(paths: Sequence[str | Path]) -> TableDescription | None:
    """Return how some tables, or the tables of folders, describe their columns; they must agree.

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
    """Return the description on which all tables agree; None if no table has one."""
    by_table = [
        (path, None if schema is None else description_of(schema, path)) for path, schema in tables
    ]
    first = next((path for path, about in by_table if about is not None), None)
    if first is None:
        return None
    about = dict(by_table)[first]
    for path, other in by_table:
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
