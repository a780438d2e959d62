"""What a person sees while a command works: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys

import pytest

from groupcm.cli import output as display
from groupcm.cli.output import Lines, show_share
from groupcm.utils.progress import Reading, Step, announce, announce_reading, listening

STEP = Step(1.5, 0.5, 0.4, 3, 2.0)


def reading(rows: int, doing: str = "screening") -> Reading:
    """A pass over 20 million rows of 52 bytes at 5 million rows a second."""
    return Reading(doing, rows, 20_000_000, 52 * rows, rows / 5e6)


class Terminal:
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


def on_terminal(monkeypatch) -> Terminal:
    # Not a fixture: pytest puts its own stream back before the test itself begins.
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return stream


def test_a_terminal_shows_the_pass_and_the_fit(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with display.working() as shown:
        shown.status("fitting")
        shown.step(STEP)
        shown.reading(reading(5_000_000))
    assert "1.50 passes, gap 2.0e-01, 2 s" in terminal.text
    assert "5 M of 20 M rows, 5 M rows/s, 260 MB/s, 3 s left" in terminal.text
    assert "screening" in terminal.text
    assert "\x1b[" in terminal.text


@pytest.fixture
def bars(monkeypatch):
    """Bars, and the tasks that rich draws: the pass and the fit."""
    on_terminal(monkeypatch)
    with display.working(tol=1e-4) as shown:
        yield shown, shown._progress.tasks


def test_a_bar_fills_with_the_rows_and_then_waits(bars):
    shown, (of_pass, of_fit) = bars
    shown.status("fitting [b]")
    assert (of_pass.description, of_pass.started) == ("fitting [b]", False)
    shown.reading(reading(5_000_000))
    assert (of_pass.description, of_pass.started) == ("screening", True)
    assert of_pass.percentage == 25
    shown.reading(reading(20_000_000))
    assert (of_pass.description, of_pass.started) == ("fitting [b]", False)
    assert of_pass.fields["note"] == ""
    assert not of_fit.visible
    shown.reading(reading(10_000_000, "scoring"))
    assert (of_pass.description, of_pass.percentage) == ("scoring", 50)


@pytest.mark.parametrize(("lower", "share"), [(0.0, 0), (0.99, 50), (1 - 1e-4, 100), (1.0, 100)])
def test_a_bar_fills_as_the_gap_closes(bars, lower, share):
    shown, (_, of_fit) = bars
    shown.step(Step(2.0, 1.0, lower, 3, 2.0))
    assert of_fit.visible
    assert of_fit.percentage == pytest.approx(share)


def test_without_rich_a_terminal_gets_plain_lines(monkeypatch):
    terminal = on_terminal(monkeypatch)
    monkeypatch.delitem(sys.modules, "groupcm.cli.output", raising=False)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with display.working() as shown:
        shown.status("fitting")
        shown.step(STEP)
    assert terminal.text.splitlines() == ["fitting", "      2.00 s    1.50 passes  gap 2.0e-01"]


def test_a_pass_gets_a_line_every_two_seconds(capsys):
    now = 0.0
    lines = Lines(clock=lambda: now)
    said = []
    with listening(lines.step, lines.reading):
        for tenth in range(0, 100, 2):
            now = tenth / 10
            announce_reading(reading(tenth * 100_000))
            said += [(now, line) for line in capsys.readouterr().err.splitlines()]
    assert [when for when, _ in said] == [2.0, 4.0, 6.0, 8.0]
    assert said[1][1] == (
        "  screening: 4,000,000 of 20,000,000 rows (20 %), 5 M rows/s, 260 MB/s, 4 s left"
    )


def test_lines_tell_every_step(capsys):
    lines = Lines(clock=lambda: 0.0)
    with listening(lines.step, lines.reading):
        announce(STEP)
        announce_reading(reading(5_000_000))
        announce(STEP)
    assert capsys.readouterr().err.splitlines() == ["      2.00 s    1.50 passes  gap 2.0e-01"] * 2


def test_a_share_is_said_once(capsys):
    tell = show_share(Lines(), "sorting")
    for row in range(1, 1001):
        tell(row, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "sorting: 1,000 of 1,000 rows"
