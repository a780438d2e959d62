"""What tests of report pages share: a reader of HTML, and text that could do harm."""

from __future__ import annotations

from html.parser import HTMLParser

NASTY = "<script>alert('x')</script> & \"$a_1$\" \x07<img src=x onerror=alert(1)>"


class Reader(HTMLParser):
    """What a page holds: its elements, and its text without style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside.append(tag)

    def handle_endtag(self, tag):
        self._inside = self._inside[: -1 - self._inside[::-1].index(tag)]

    def handle_data(self, data):
        if "style" not in self._inside:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


WIDER_THAN_THE_WINDOW = "document.documentElement.scrollWidth - window.innerWidth"
