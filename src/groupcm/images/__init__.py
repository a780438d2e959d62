"""Pictures: tables of candidates with features, scores of a fitted model, and overlays."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.images.features.user_families import register_family
    from groupcm.images.overlay import draw_overlay
    from groupcm.images.reading import read_picture
    from groupcm.images.recipe import Recipe
    from groupcm.images.recipe_fitting import fit_recipe
    from groupcm.images.regions import Regions
    from groupcm.images.scoring.folder import score_folder
    from groupcm.images.scoring.score import score_picture
    from groupcm.images.tables.labelling import Labelling
    from groupcm.images.tables.propose import propose_folder
    from groupcm.images.tables.relabel import label_table
    from groupcm.images.tables.table import table_recipe
    from groupcm.images.truth import read_truth
    from groupcm.images.video import video_frames
    from groupcm.images.view import View

__all__ = [
    "Labelling",
    "Recipe",
    "Regions",
    "View",
    "draw_overlay",
    "fit_recipe",
    "label_table",
    "propose_folder",
    "read_picture",
    "read_truth",
    "register_family",
    "score_folder",
    "score_picture",
    "table_recipe",
    "video_frames",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Labelling": "tables.labelling",
        "Recipe": "recipe",
        "Regions": "regions",
        "View": "view",
        "draw_overlay": "overlay",
        "fit_recipe": "recipe_fitting",
        "label_table": "tables.relabel",
        "propose_folder": "tables.propose",
        "read_picture": "reading",
        "read_truth": "truth",
        "register_family": "features.user_families",
        "score_folder": "scoring.folder",
        "score_picture": "scoring.score",
        "table_recipe": "tables.table",
        "video_frames": "video",
    },
)
