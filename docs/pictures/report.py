"""Take a picture of the first screen of a report: ``python -m docs.pictures.report``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.pages.server import browsing
from docs.pictures.pages import keep

import groupcm
from groupcm.report import save_evaluation

SIZE = {"width": 1280, "height": 790}
COLUMNS = {"group": "frame", "label": "label", "overlap": "overlap", "patient": "patient"}


def main() -> None:
    """Train, choose the threshold and evaluate on patients of their own, and show the report."""
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        train, validation, test = (Path(folder) / f"{k}.parquet" for k in ("a", "b", "c"))
        for seed, table in enumerate((train, validation, test)):
            groupcm.simulate.capsule_to_parquet(
                table, 400, n_positive=120, n_patients=80, group_size=20, seed=seed
            )
        model = groupcm.GroupClassifierCV(lams=3)
        fit = groupcm.fit_tables(model, train, exclude=["polyp"], **COLUMNS)
        evaluation = groupcm.evaluate_tables(
            fit.trained,
            test,
            validation=validation,
            specificity=0.9,
            levels={"patient": "patient"},
            object="polyp",
            unit="frame",
            title="Polyps in synthetic frames of capsule endoscopy",
            **COLUMNS,
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        save_evaluation(evaluation, Path(folder) / "report.html")
        page.goto((Path(folder) / "report.html").as_uri())
        keep(page, "report.jpg")


if __name__ == "__main__":
    main()
