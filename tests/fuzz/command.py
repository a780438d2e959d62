"""The command: run many cases of every target, count how they end, shrink what fails."""

from __future__ import annotations

import argparse
import json
import select
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.cases import TARGETS, draw_case, shrink_case
from fuzz.forking import Zygote
from fuzz.outcomes import FAILURES, OUTCOMES, Verdict

__all__ = ["Failure", "main", "run_cases"]

# Written to, never read by git.
_FOLDER = Path(".fuzz")
_SECONDS_BETWEEN_LINES = 10.0
# Defects that are shrunk and described at most; all are counted.
_MOST_DESCRIBED = 12


@dataclass(frozen=True)
class Failure:
    """A case that failed."""

    target: str
    seed: int
    number: int
    verdict: Verdict

    @property
    def command(self) -> str:
        """A line for the shell that runs the case again."""
        return (
            f"python -m tests.fuzz --target {self.target} --seed {self.seed} --case {self.number}"
        )


@dataclass
class Tally:
    """The cases of a run so far."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def add(self, target: str, seed: int, number: int, verdict: Verdict) -> None:
        self.counts.setdefault(target, Counter())[verdict.outcome] += 1
        if verdict.is_failure:
            self.failures.append(Failure(target, seed, number, verdict))

    @property
    def n_cases(self) -> int:
        return sum(sum(counts.values()) for counts in self.counts.values())

    def table(self) -> str:
        """The counts of each target and outcome."""
        heads = ["target", "cases", *OUTCOMES.values()]
        rows = [
            [target, str(sum(counts.values())), *(str(counts[outcome]) for outcome in OUTCOMES)]
            for target, counts in self.counts.items()
        ]
        widths = [max(len(line[i]) for line in [heads, *rows]) for i in range(len(heads))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in [heads, *rows]
        ]
        return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns 0 where no case failed, 1 where one did."""
    options = _parse(arguments)
    if options.replay is not None or options.case is not None:
        return _replay(options)
    seed = time.time_ns() % 10**9 if options.seed is None else options.seed
    plan = _plan(options.cases, options.target)
    journal = _Journal(seed)
    done = journal.read() if options.resume else journal.clear()
    again = f"python -m tests.fuzz --cases {options.cases} --seed {seed}"
    again += f" --target {options.target}" if options.target else ""
    print(f"seed {seed}; the same cases again: {again}", flush=True)
    tally, interrupted = Tally(), False
    for (target, number), verdict in done.items():
        tally.add(target, seed, number, verdict)
    left = [case for case in plan if case not in done]
    with ExitStack() as stack:
        zygotes = [stack.enter_context(Zygote()) for _ in range(options.jobs)]
        try:
            progress = _Progress(len(plan), tally)
            for target, number, verdict in run_cases(zygotes, seed, left):
                tally.add(target, seed, number, verdict)
                journal.write(target, number, verdict)
                progress.show()
        except KeyboardInterrupt:
            interrupted = True
            print(f"\nInterrupted; go on with: {again} --resume")
        print(f"\n{tally.table()}\n")
        if tally.failures and not interrupted:
            try:
                _describe(tally.failures, zygotes[0])
            except KeyboardInterrupt:
                print("\nInterrupted.")
    return 1 if tally.failures or interrupted else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="of all targets together")
    parser.add_argument("--seed", type=int, help="of all cases; by default a new one, printed")
    parser.add_argument("--target", choices=list(TARGETS), help="run only this one")
    parser.add_argument("--jobs", type=int, default=2, help="cases that run at once")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    parser.add_argument("--case", type=int, help="run only this case of the target and the seed")
    parser.add_argument("--replay", type=Path, help="run the case in a file of .fuzz/")
    options = parser.parse_args(arguments)
    if options.case is not None and (options.target is None or options.seed is None):
        parser.error("--case needs --target and --seed")
    if options.resume and options.seed is None:
        parser.error("--resume needs --seed")
    return options


def _plan(n_cases: int, only: str | None) -> list[tuple[str, int]]:
    """The cases of a run: shared out over the targets, and in turn."""
    shares = TARGETS if only is None else {only: 1.0}
    total = sum(shares.values())
    plan = []
    for target, share in shares.items():
        n = max(1, round(n_cases * share / total))
        plan += [((number + 0.5) / n, target, number) for number in range(n)]
    return [(target, number) for _, target, number in sorted(plan)]


def run_cases(
    zygotes: list[Zygote], seed: int, cases: list[tuple[str, int]]
) -> Iterator[tuple[str, int, Verdict]]:
    """Run cases on several processes at once; yields each with its verdict as it ends."""
    waiting = iter(cases)
    under_way: dict[Zygote, tuple[str, int]] = {}

    def start(zygote: Zygote) -> None:
        case = next(waiting, None)
        if case is not None:
            zygote.send(case[0], draw_case(case[0], seed, case[1]))
            under_way[zygote] = case

    for zygote in zygotes:
        start(zygote)
    while under_way:
        for zygote in select.select(list(under_way), [], [])[0]:
            target, number = under_way.pop(zygote)
            verdict = zygote.receive()
            start(zygote)
            yield target, number, verdict


class _Journal:
    """The verdicts of a run on disk, so that an interrupted one can go on."""

    def __init__(self, seed: int) -> None:
        _FOLDER.mkdir(exist_ok=True)
        self.path = _FOLDER / f"run-{seed}.jsonl"

    def read(self) -> dict[tuple[str, int], Verdict]:
        if not self.path.exists():
            return {}
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        return {(target, number): Verdict(**fields) for target, number, fields in lines}

    def clear(self) -> dict[tuple[str, int], Verdict]:
        self.path.unlink(missing_ok=True)
        return {}

    def write(self, target: str, number: int, verdict: Verdict) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps([target, number, verdict.as_dict()]) + "\n")


class _Progress:
    """A line every few seconds, on a terminal the same line again."""

    def __init__(self, n_cases: int, tally: Tally) -> None:
        self.n_cases, self.tally = n_cases, tally
        self.began = self.shown = time.monotonic()
        self.before = tally.n_cases

    def show(self) -> None:
        now, on_terminal = time.monotonic(), sys.stdout.isatty()
        done = self.tally.n_cases
        if now - self.shown < (0.5 if on_terminal else _SECONDS_BETWEEN_LINES):
            return
        self.shown = now
        speed = (done - self.before) / max(now - self.began, 1e-9)
        left = (self.n_cases - done) / max(speed, 1e-9)
        failed = len(self.tally.failures)
        line = f"{done:,} of {self.n_cases:,} cases, {failed:,} failed, about {left:.0f} s left"
        print(f"\r{line:<70}" if on_terminal else line, end="" if on_terminal else "\n", flush=True)


def _describe(failures: list[Failure], zygote: Zygote) -> None:
    """Print each defect once, shrunk, with the command that shows it again."""
    defects: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in failures:
        key = (failure.target, failure.verdict.outcome, failure.verdict.check)
        defects.setdefault(key, []).append(failure)
    ordered = sorted(defects.values(), key=len, reverse=True)
    for found in ordered[:_MOST_DESCRIBED]:
        first = found[0]
        run = lambda case, target=first.target: zygote.run(target, case)  # noqa: E731
        case, verdict = shrink_case(first.target, first.seed, first.number, run, first.verdict)
        path = _save(first, case, verdict)
        print(f"{FAILURES[verdict.outcome]} ({first.target}): {verdict.check}: {len(found)} cases")
        print(f"  first:  {first.command}\n          {first.verdict.detail}")
        print(f"  shrunk: python -m tests.fuzz --replay {path}\n          {verdict.detail}")
    for found in ordered[_MOST_DESCRIBED:]:
        verdict, first = found[0].verdict, found[0]
        print(f"{FAILURES[verdict.outcome]} ({first.target}): {verdict.check}: {len(found)} cases")
        print(f"  first:  {first.command}")


def _save(failure: Failure, case: Any, verdict: Verdict) -> Path:
    name = f"{failure.target}-{verdict.outcome}-{failure.seed}-{failure.number}.json"
    path = _FOLDER / name
    found = {"target": failure.target, "case": case, "verdict": verdict.as_dict()}
    path.write_text(json.dumps(found, indent=1) + "\n")
    return path


def _replay(options: argparse.Namespace) -> int:
    if options.replay is not None:
        saved = json.loads(options.replay.read_text())
        target, case = saved["target"], saved["case"]
    else:
        target, case = options.target, draw_case(options.target, options.seed, options.case)
    print(json.dumps(case))
    with Zygote() as zygote:
        verdict = zygote.run(target, case)
    print(f"{OUTCOMES[verdict.outcome]}: {verdict.check}: {verdict.detail}")
    print(f"{verdict.cpu_seconds:.1f} s of processor time, {verdict.megabytes:.0f} MB")
    return 1 if verdict.is_failure else 0
