"""
From pictures to overlays
=========================

How does a folder of pictures become a detector? This example writes synthetic frames of capsule
endoscopy with the masks of their polyps, proposes candidates in each frame and measures their
features, trains a model on some patients, and scores the frames of the others. The overlays show
which candidate raised the alarm. ``groupcm images train`` runs the same steps from the command
line.
"""

# %%
# Frames and candidates
# ---------------------
# ``propose_folder`` writes one row per candidate, with its features, its label and its overlap with
# the annotated polyp. Small frames and few candidates keep this example quick.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow.parquet as pq

from groupcm import GroupClassifier
from groupcm.images import Recipe, draw_overlay, propose_folder, read_picture, score_picture
from groupcm.images.proposals import Proposals
from groupcm.images.regions import Regions
from groupcm.images.synthetic import write_frames
from groupcm.metrics import group_roc_auc

folder = Path(tempfile.mkdtemp())
annotations = write_frames(
    folder, 60, share_with_polyps=0.5, n_patients=20, height=96, width=128, seed=3
)
recipe = Recipe(Proposals(Proposals.default().parts, at_most=60))
done = propose_folder(
    folder / "frames",
    folder / "candidates.parquet",
    annotations=folder / "annotations.json",
    recipe=recipe,
    workers=1,
)
print(f"{done.n_pictures} frames, {done.n_candidates:,} candidates, {done.n_features} features")

# %%
# Train on some patients, score the others
# ----------------------------------------

table = pq.read_table(folder / "candidates.parquet").to_pandas()
patients = table["patient"].unique()
held_out = table["patient"].isin(patients[-7:])
features = list(recipe.feature_names)
train, test = table[~held_out], table[held_out]
model = GroupClassifier(lam=0.1)
model.fit(train[features], train["label"], groups=train["picture"], overlap=train["overlap"])
scores = model.decision_function(test[features])
area = group_roc_auc(test["label"], scores, test["picture"])
print(f"{train['picture'].nunique()} frames for training, {test['picture'].nunique()} held out")
print(f"group AUC on the held-out patients: {area:.3f}")

# %%
# Overlays
# --------
# The solid outline is the candidate with the largest score, with its score next to it; the dashed
# outline is the annotated polyp. We show the held-out frames with the two largest and the two
# smallest scores of each class.

of_frame = (
    test.assign(score=scores).groupby("picture").agg(score=("score", "max"), label=("label", "max"))
)
of_frame = of_frame.sort_values("score", ascending=False)
picked = {label: [*of_frame.index[of_frame["label"] == label][[0, 1, -2, -1]]] for label in (1, 0)}
pictures = {picture.name: picture for picture in annotations}

fig, axes = plt.subplots(2, 4, figsize=(12, 5.2), layout="constrained")
for row, (label, names) in zip(axes, picked.items(), strict=True):
    for ax, name in zip(row, names, strict=True):
        pixels = read_picture(folder / "frames" / name)
        found = score_picture(model, recipe, pixels, name=name, threshold=0.0)
        marked = [each.region for each in pictures[name].objects]
        truth = Regions.of(marked, *pixels.shape[:2]) if marked else None
        ax.imshow(draw_overlay(pixels, found, truth=truth))
        is_alarm = found.score >= 0
        verdict = {(1, True): "found", (1, False): "missed", (0, True): "false alarm"}
        ax.set_title(verdict.get((label, is_alarm), "no alarm"), fontsize=11)
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("with a polyp", fontsize=12)
axes[1, 0].set_ylabel("without a polyp", fontsize=12)
fig.suptitle("Held-out frames: largest scores on the left, smallest on the right", weight="bold")
plt.show()
