"""Complete analyses in one call: from a folder of pictures to a model, its report and overlays."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.workflows.picture_training import PictureTraining, train_folder
    from groupcm.workflows.training_choices import TrainingChoices, read_choices

__all__ = ["PictureTraining", "TrainingChoices", "read_choices", "train_folder"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "PictureTraining": "picture_training",
        "TrainingChoices": "training_choices",
        "read_choices": "training_choices",
        "train_folder": "picture_training",
    },
)
