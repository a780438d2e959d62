"""Amounts of memory: parsing them, and the default limit."""

from __future__ import annotations

import os
import re
from operator import index

from groupcm.errors import ParameterError

__all__ = ["free_memory", "memory_to_use", "parse_memory", "total_memory"]

_STEPS = "KMGT"
_ASSUMED = 8_000_000_000  # bytes of memory where the system does not report them
_AMOUNT = re.compile(
    rf"\s*([0-9]{{1,15}}(?:\.[0-9]*)?|\.[0-9]+)\s*(?:([{_STEPS}])(I?))?(B?)\s*", re.IGNORECASE
)


def parse_memory(amount: int | str) -> int:
    """Return an amount of memory in bytes.

    Parameters
    ----------
    amount : int or str
        Bytes, or text with a unit: K, M, G and T are steps of 1000, Ki, Mi, Gi and Ti of 1024;
        a B may follow.

    Examples
    --------
    >>> parse_memory("2GB"), parse_memory("1.5 GiB"), parse_memory("800M"), parse_memory(4096)
    (2000000000, 1610612736, 800000000, 4096)
    >>> parse_memory("4")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: '4' is not an amount of memory; write it with a unit, such as
    2GB, 500MB or 1.5GiB.
    """
    if hasattr(amount, "__index__") and not isinstance(amount, bool | str):
        if (n_bytes := index(amount)) > 0:
            return n_bytes
        raise ParameterError(
            f"{amount} bytes is not an amount of memory; it must be above 0.", parameter="memory"
        )
    found = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
    if found is not None:
        number, step, binary, byte = found.groups()
        if step or byte:
            base = 1024 if binary else 1000
            power = 0 if step is None else 1 + _STEPS.index(step.upper())
            if (n_bytes := round(float(number) * base**power)) > 0:
                return n_bytes
    raise ParameterError(
        f"{amount!r} is not an amount of memory; write it with a unit, such as 2GB, 500MB or "
        "1.5GiB.",
        parameter="memory",
    )


def memory_to_use(*wanted: int | str | None) -> int:
    """Return the first amount that is not None in bytes; by default 60 % of the free memory.

    Examples
    --------
    >>> memory_to_use(None, "2GB")
    2000000000
    >>> memory_to_use(None) > 0
    True
    """
    for amount in wanted:
        if amount is not None:
            return parse_memory(amount)
    return int(0.6 * (free_memory() or (total_memory() or _ASSUMED) // 2))


def free_memory() -> int | None:
    """Return the bytes that programs can still take, or None if the system does not report them.

    Examples
    --------
    >>> free = free_memory()
    >>> free is None or free > 0
    True
    """
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def total_memory() -> int | None:
    """Return the bytes of memory of this computer, or None if the system does not report them.

    Examples
    --------
    >>> total = total_memory()
    >>> total is None or total > 0
    True
    """
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
