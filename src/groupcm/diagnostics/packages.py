"""The packages that groupcm requires and those of its extras, with their installed versions.

Requirements are read from the metadata of the installed distribution, so that they are declared in
one place only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata

__all__ = ["ExtraStatus", "Package", "core_packages", "extras_status"]

# Extras for work on groupcm itself, and the one that combines all others.
_NOT_FOR_USERS = frozenset({"all", "bench", "dist", "docs", "lint", "test"})
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)\s*(?:\[(?P<extras>[^]]*)\])?\s*\(?(?P<versions>[^;)]*)\)?"
    r"\s*(?:;\s*(?P<marker>.*))?"
)
_MARKER = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True)
class Package:
    """A package that groupcm requires.

    Attributes
    ----------
    name : str
    version : str or None
        The installed version; None if the package is not installed.
    required : str
        The versions that groupcm accepts, such as ``>=1.26``; empty for all of them.
    is_suitable : bool
        Whether an accepted version is installed.
    """

    name: str
    version: str | None
    required: str
    is_suitable: bool


@dataclass(frozen=True)
class ExtraStatus:
    """An extra of groupcm.

    Attributes
    ----------
    name : str
    packages : tuple of Package
    is_installed : bool
        Whether all of its packages are installed in accepted versions.
    install_command : str
        The command that installs the extra.
    """

    name: str
    packages: tuple[Package, ...]
    is_installed: bool
    install_command: str


def core_packages() -> tuple[Package, ...]:
    """Return the packages that groupcm always requires; empty if groupcm is not installed.

    Examples
    --------
    >>> "numpy" in {package.name for package in core_packages()}
    True
    """
    return tuple(map(_package, _requirements("groupcm", None)))


def extras_status() -> tuple[ExtraStatus, ...]:
    """Return the extras that users can install; empty if groupcm is not installed.

    Examples
    --------
    >>> [extra.name for extra in extras_status()][:3]
    ['boosting', 'cli', 'dask']
    """
    try:
        names = metadata.metadata("groupcm").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return ()
    found = []
    for name in sorted(set(names) - _NOT_FOR_USERS):
        packages = tuple(map(_package, _requirements("groupcm", name)))
        complete = all(package.is_suitable for package in packages)
        found.append(ExtraStatus(name, packages, complete, f'pip install "groupcm[{name}]"'))
    return tuple(found)


def _requirements(distribution: str, extra: str | None) -> list[tuple[str, str]]:
    """Return names and versions that a distribution, or one of its extras, requires.

    Requirements with other markers, such as the version of Python, are left out.
    """
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return []
    found = {}
    for line in lines:
        parts = _REQUIREMENT.fullmatch(line)
        if parts is None:
            continue
        marker = parts["marker"]
        of_extra = _MARKER.fullmatch(marker.strip()) if marker else None
        if (marker and not of_extra) or (of_extra and of_extra[1]) != extra:
            continue
        found[parts["name"]] = parts["versions"].strip()
        for inner in filter(None, map(str.strip, (parts["extras"] or "").split(","))):
            for name, versions in _requirements(parts["name"], inner):
                found.setdefault(name, versions)
    return sorted(found.items())


def _package(requirement: tuple[str, str]) -> Package:
    name, required = requirement
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Package(name, None, required, False)
    return Package(name, version, required, _is_accepted(version, required))


def _is_accepted(version: str, required: str) -> bool:
    """Return whether a version is not below a lower limit and equal to a pinned one."""
    for part in filter(None, map(str.strip, required.split(","))):
        wanted = _release(part.lstrip("<>=!~ "))
        if part.startswith((">=", "~=")) and _release(version) < wanted:
            return False
        if part.startswith("==") and "*" not in part and _release(version) != wanted:
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version without zeros at its end: 2.0.1 of 2.0.1rc1+cpu."""
    found = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(each) for each in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
