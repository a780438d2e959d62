"""Numbers in the paths of routes, as ``Route("/api/pictures/{number:short}", …)``.

Starlette's own ``int`` takes any number of digits and fails on thousands of them; a path with so
many names nothing here, and is answered with 404.
"""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor

__all__ = ["ONE_PICTURE", "ShortNumber"]

ONE_PICTURE = "/api/pictures/{number:short}"


class ShortNumber(Convertor[int]):
    """A whole number of at most 18 digits."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("short", ShortNumber())
