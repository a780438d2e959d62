#!/bin/sh
# Write the files of this folder with version 0.1 of groupcm (commit 1737bd9):
#
#     sh make_files.sh FOLDER
#
# in an environment in which `python` imports that version. They are never written again: what a
# later version writes proves nothing about the files that users of version 0.1 have.
set -eu
mkdir -p "$1"
cd "$1"

groupcm() {
    python -c 'import sys; from groupcm.cli.main import main; sys.exit(main())' "$@"
}

# Synthetic frames and the candidates in them.
python - <<'PY'
from groupcm.images.synthetic import write_frames

write_frames("pictures", 10, share_with_polyps=0.5, n_patients=5, height=48, width=64, seed=4)
PY
groupcm images propose pictures/frames --annotations pictures/annotations.json \
    --features shape,colour --at-most 8 --workers 1 -o candidates.parquet

# Models that the command line writes: columns, threshold and recipe are among their notes.
some=shape_aspect,shape_elongation,colour_lightness,colour_green_red,colour_saturation,colour_spread_hue_sin
groupcm fit candidates.parquet --lam 0.5 --random-state 0 -o model_linear.json
groupcm fit candidates.parquet --cv --folds 3 --lams 4 --calibrate sigmoid --random-state 0 \
    --background negative --features "$some" -o model_tuned.json
groupcm fit candidates.parquet --model trees --no-early-stopping --n-estimators 4 --num-leaves 4 \
    --min-child-samples 3 --random-state 0 --features "$some" -o model_trees.json
# One more has every family of features; its table is too large to keep.
groupcm images propose pictures/frames --annotations pictures/annotations.json \
    --proposals superpixels,merging,extremal,ridges,windows --at-most 8 --workers 1 \
    --features shape,colour,contrast,sides,lines,texture,gradients,place -o all.parquet
groupcm fit all.parquet --lam 0.5 --random-state 0 -o model_all.json
rm all.parquet
groupcm images score model_all.json pictures/frames --workers 1 -o picture_scores_all.csv
for model in linear tuned trees; do
    groupcm score "model_$model.json" candidates.parquet -o "scores_$model.parquet"
    groupcm images score "model_$model.json" pictures/frames --workers 1 \
        -o "picture_scores_$model.csv"
done
groupcm images score model_linear.json pictures/frames --workers 1 --marks found.json \
    --threshold 0 -o unused.csv
rm unused.csv

# Rows that are streamed, and the checkpoints of fits that were interrupted.
python - <<'PY'
import warnings

import numpy as np
import pyarrow.parquet as pq

from groupcm import GroupClassifier, simulate, sources
from groupcm.features import Polynomial
from groupcm.estimators.path import lambda_path
from groupcm.solvers import streamed, working_set

simulate.capsule_to_parquet(
    "rows.parquet", n_negative=40, n_positive=10, n_patients=5, group_size=10, seed=3,
    rows_a_row_group=150,
)
features = simulate.FEATURE_NAMES
rows = sources.from_parquet(
    "rows.parquet", group="frame", label="label", overlap="overlap", features=features
)
table = pq.read_table("rows.parquet")
X = np.column_stack([table[name].to_numpy() for name in features])
y, groups, overlap = (table[name].to_numpy() for name in ("label", "frame", "overlap"))


def interrupted(module, calls, fit):
    """Press Ctrl-C, so to speak, when a fit begins one more pass than it may."""
    real, count = module._pass, iter(range(10**6))

    def call(*given, **named):
        if next(count) >= calls:
            raise KeyboardInterrupt
        return real(*given, **named)

    module._pass = call
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit()
    except KeyboardInterrupt:
        pass
    finally:
        module._pass = real


def model(name, **options):
    return GroupClassifier(
        lam=0.9, random_state=0, checkpoint=f"checkpoint_{name}.json", **options
    )


stream = {"memory": "2kB"}
interrupted(streamed, 0, lambda: model("streamed", **stream).fit(rows))
interrupted(
    streamed, 0,
    lambda: model("unscaled", standardize=False, penalty="l2", **stream).fit(rows),
)
interrupted(
    streamed, 0, lambda: model("l1", penalty="l1", loss="hinge", **stream).fit(rows)
)
interrupted(
    streamed, 0, lambda: model("mapped", feature_map=Polynomial(2), **stream).fit(rows)
)
interrupted(working_set, 1, lambda: model("memory").fit(X, y, groups, overlap))
interrupted(
    streamed, 0, lambda: lambda_path(rows, lams=[0.5, 0.9], estimator=model("path", **stream))
)
PY

# What the pages save.
python - <<'PY'
from groupcm.web.server.library import PictureLibrary
from groupcm.web.review.flags import Mark, MarksFile
from groupcm.web.annotate.store import AnnotationStore

library = PictureLibrary("pictures/frames")
store = AnnotationStore(library, "annotated.json", ["polyp", "blood"])


def put(number, *objects, done=True):
    store.put(
        number,
        {"version": store.picture(number)["version"], "done": done, "objects": [*objects]},
    )


box = {"type": "box", "x": 1.5, "y": 2.0, "width": 9.0, "height": 7.5}
polygon = {"type": "polygons", "parts": [[4.0, 4.0, 20.0, 6.5, 12.0, 30.0]]}
mask = {"type": "mask", "height": 48, "width": 64, "counts": [100, 5, 43, 6, 2918]}
put(0, {"id": "n1", "category": "polyp", "region": box, "score": None})
put(1)
put(2, {"id": "n2", "category": "blood", "region": polygon, "score": None},
    {"id": "n3", "category": "polyp", "region": mask, "score": 0.5}, done=False)
store.close()

store = AnnotationStore(library, "annotated_all_done.json", ["polyp"])
for number in range(len(library)):
    put(number, *([{"id": "n1", "category": "polyp", "region": box, "score": None}] * (number < 2)))
store.close()

marks = MarksFile("review.csv")
marks.mark("patient1_frame01.png", Mark(0.25, "negative", "false positive", "is it one, or two?"))
marks.mark("patient2_frame03.png", Mark(None, "", "", 'A quote ", a comma, and é.'))
marks.mark("gone.png", Mark(-1e-3, "positive", "false negative", ""))
PY
