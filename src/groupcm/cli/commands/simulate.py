"""``groupcm simulate``: writes synthetic candidates to Parquet files."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote

from groupcm.cli.output import mistakes, print_line, short, show_rows, show_share, working
from groupcm.data.tables.formats import is_parquet, open_table, write_table
from groupcm.errors import InputError
from groupcm.simulate import capsule_to_parquet, videos

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Write the candidates, and print how many."""
    output = Path(arguments.output)
    if arguments.files == 1 and not is_parquet(output):
        raise InputError(
            f"cannot write {output}: end its name in .parquet, or write several files into "
            "a folder with --files 2 or more"
        )
    if arguments.patients is not None:
        return _videos(arguments, output)
    with mistakes(), working() as display:
        files = capsule_to_parquet(
            output,
            arguments.negatives,
            n_positive=arguments.positives,
            group_size=arguments.group_size,
            seed=arguments.seed,
            world=arguments.world,
            layout=arguments.layout,
            n_files=arguments.files,
            on_rows=show_share(display, "simulating"),
        )
    n_rows = sum(open_table(file).n_rows for file in files)
    frames = arguments.negatives + arguments.positives
    n_bytes = sum(file.stat().st_size for file in files)
    show_rows(
        [
            ("rows", f"{n_rows:,}"),
            ("groups", f"{frames:,}, of them {arguments.positives:,} with a polyp"),
            ("size", f"{short(n_bytes)}B in {len(files):,} file{'s' * (len(files) > 1)}"),
        ]
    )
    print_line(f"Wrote {output}.")
    print_line("The column polyp reveals the answer, so leave it out of the features. Train with:")
    columns = "--group frame --label label --overlap overlap --patient patient"
    print_line(
        f"  groupcm fit {quote(str(output))} {columns} --features {_features(files[0])} -o MODEL"
    )
    return 0


def _videos(arguments: argparse.Namespace, output: Path) -> int:
    """Write the frames of videos."""
    for name, default in (("negatives", 2000), ("positives", 293), ("files", 1)):
        if getattr(arguments, name) != default:
            raise InputError(f"--{name} is for single frames, and --patients for videos; leave one")
    with mistakes():
        data = videos(
            arguments.patients,
            videos_per_patient=arguments.videos,
            frames_per_video=arguments.frames,
            group_size=arguments.group_size,
            seed=arguments.seed,
            world=arguments.world,
        )
    write_table(data.to_table(), output)
    ill, polyps = data.patient[data.y == 1], data.polyp[data.y == 1]
    show_rows(
        [
            ("rows", f"{len(data):,}"),
            ("frames", f"{data.groups[-1] + 1:,} of {data.video[-1] + 1:,} videos"),
            ("patients", f"{arguments.patients:,}, of them {len(set(ill.tolist())):,} with polyps"),
            ("polyps", f"{len(set(polyps.tolist())):,}"),
        ]
    )
    print_line(f"Wrote {output}.")
    print_line("The column polyp reveals the answer, so leave it out of the features. Train with:")
    columns = "--group frame --label label --overlap overlap --level video --level patient --cv"
    print_line(
        f"  groupcm fit {quote(str(output))} {columns} --features {_features(output)} -o MODEL"
    )
    print_line("  groupcm evaluate MODEL TEST.parquet --object polyp --report REPORT.html")
    return 0


def _features(file: Path) -> str:
    names = open_table(file).schema.names
    return ",".join(names[: names.index("frame")])
