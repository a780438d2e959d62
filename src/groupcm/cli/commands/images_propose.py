"""``groupcm images propose``: a folder of pictures in, a table of candidates out."""

from __future__ import annotations

import argparse
import time

from groupcm.cli.output import print_error, running, seconds, show_rows
from groupcm.cli.summaries import proposed_rows, show_written
from groupcm.images.recipe import Recipe
from groupcm.images.recipe_options import recipe_named
from groupcm.images.tables.propose import Proposed, propose_folder
from groupcm.images.tables.table import table_recipe

__all__ = ["recipe_from", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Propose candidates, write the table, and print a summary."""
    began = time.perf_counter()
    try:
        done = _propose(arguments)
    except KeyboardInterrupt as error:
        if not error.args:
            raise
        print_error(f"groupcm: stopped by Ctrl-C; {error}")
        return 130
    for picture in done.skipped:
        print_error(f"groupcm: left out: {picture.reason}")
    show_rows([*proposed_rows(done), ("time", seconds(time.perf_counter() - began))])
    show_written(done)
    return 0


def _propose(arguments: argparse.Namespace) -> Proposed:
    with running() as display:
        display.status("looking at the pictures")
        return propose_folder(
            arguments.folder,
            arguments.output,
            annotations=arguments.annotations,
            recipe=recipe_from(arguments),
            category=arguments.category,
            overlap=arguments.overlap,
            positive_overlap=arguments.positive_overlap,
            unmarked=arguments.unmarked.replace("-", "_"),
            missing_pictures=arguments.missing_pictures,
            patient_from=arguments.patient_from,
            patients=arguments.patients,
            split=arguments.split,
            given=arguments.given,
            skip_unreadable=arguments.skip_unreadable,
            workers=arguments.workers,
            most_pixels=arguments.most_pixels,
            video=arguments.video,
            every=arguments.every,
            augment=arguments.augment or 0,
        )


def recipe_from(arguments: argparse.Namespace) -> Recipe:
    """Return the recipe that ``--proposals``, ``--features``, ``--network`` and the like set."""
    if arguments.recipe is not None:
        return table_recipe(arguments.recipe, families=arguments.family).with_cache(arguments.cache)
    return recipe_named(
        arguments.proposals,
        arguments.features,
        network=arguments.network,
        network_mode=arguments.network_mode,
        components=arguments.components,
        crop_size=arguments.crop_size,
        context=arguments.context,
        family=arguments.family,
        at_most=arguments.at_most,
        longest_side=arguments.longest_side,
        highlights=getattr(arguments, "highlights", "keep"),
        with_given=arguments.given is not None,
        cache=arguments.cache,
    )
