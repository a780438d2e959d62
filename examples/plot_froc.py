"""
FROC and operating points
=========================

Which polyps are found, and at the price of how many false alarms? The group ROC curve answers for
frames; the free-response ROC curve (FROC) answers for objects: a polyp that is seen in several
frames is found once any candidate on it is an alarm, and each other alarm is a false one. A
threshold is one point on both curves. This example chooses it on validation frames for a given
specificity, and states what it does on the frames of other patients, with confidence intervals.
"""

# %%
# A model and three sets of frames
# --------------------------------
# With ``background="negative"`` the other candidates of a positive frame count as one more negative
# group, which makes alarms in the wrong place costly. Each seed has patients of its own.

import matplotlib.pyplot as plt

from groupcm import GroupClassifier
from groupcm.metrics import operating_point
from groupcm.plots import FrocDisplay, GroupRocDisplay, ScoreDistributionDisplay
from groupcm.simulate import capsule

plt.rcParams.update({"font.size": 11})

train = capsule(800, n_positive=150, group_size=60, seed=1)
validation = capsule(800, n_positive=150, n_patients=120, group_size=60, seed=2)
test = capsule(800, n_positive=150, n_patients=120, group_size=60, seed=3)
model = GroupClassifier(lam=0.5, background="negative")
model.fit(train.X, train.y, groups=train.groups, overlap=train.overlap)

# %%
# A threshold from validation frames
# ----------------------------------
# :func:`groupcm.metrics.operating_point` chooses the most sensitive threshold whose specificity is
# at least the given one. The same threshold is then applied to the test frames, where specificity
# and sensitivity differ by chance.

validation_scores = model.decision_function(validation.X)
scores = model.decision_function(test.X)
for specificity in (0.8, 0.9, 0.95):
    point = operating_point(
        validation.y, validation_scores, validation.groups, specificity=specificity
    )
    found = point.at(test.y, scores, test.groups)
    print(
        f"specificity {specificity:.2f} wanted: threshold {point.threshold:+.2f}; on test frames "
        f"specificity {found.specificity:.3f}, sensitivity {found.sensitivity:.3f}, "
        f"{found.false_alarms:.2f} false alarms per frame"
    )
point = operating_point(validation.y, validation_scores, validation.groups, specificity=0.9)

# %%
# Both curves on the test frames
# ------------------------------
# The bands are 95 % confidence bands from a bootstrap over patients, and the marked point is the
# threshold for a specificity of 0.9 on the validation frames.

fig, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
options = {"clusters": test.patient, "threshold": point.threshold, "n_resamples": 500}
GroupRocDisplay.from_predictions(test.y, scores, test.groups, ax=axes[0], **options)
FrocDisplay.from_predictions(
    test.y, scores, test.groups, objects=test.polyp, object_word="polyp", ax=axes[1], **options
)
axes[0].set_title("Frames: group ROC")
axes[1].set_title("Polyps: FROC")
plt.show()

# %%
# The share of polyps that are found is larger than the share of frames, because a polyp is seen in
# several frames and needs to be found in one. Where the scores of both kinds of frames overlap, no
# threshold separates them.

fig, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
ScoreDistributionDisplay.from_predictions(
    test.y, scores, test.groups, threshold=point.threshold, ax=ax
)
ax.set_title("Scores of the test frames, and the threshold")
plt.show()
