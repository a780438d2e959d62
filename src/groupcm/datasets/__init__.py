"""Datasets: ``load_*`` needs no download, ``fetch_*`` downloads public data once.

======================== ===================================================== ====================
function                 group and candidates                                  split by
======================== ===================================================== ====================
`load_capsule`           synthetic frames, regions                             ``patients``
`load_digit_groups`      constructed groups of real digits, pictures           ``folds``
`fetch_targetp2`         proteins, positions                                   ``folds``
`fetch_signalp6`         proteins, positions                                   ``folds``
`fetch_wikiqa`           questions, sentences                                  ``folds``
`fetch_amazon_google`    products, products that may be the same               ``groups``
`fetch_magnetic_tiles`   pictures of tiles with defects                        ``patients``: tiles
`fetch_cvc_clinicdb`     colonoscopy frames with polyps                        ``patients``: videos
`fetch_bccd`             pictures of blood cells                               ``folds``
======================== ===================================================== ====================

The first six return a `GroupDataset`, the others a `PictureDataset`. Most of the data may be used
for research only: each function prints the licence at the first use and returns it as ``licence``.

Files are kept in the folder ``data_home``, or in that of the environment variable ``GROUPCM_DATA``,
or in the user's cache folder. A file that is already there is not downloaded, so that a computer
without access to the internet can use files that were copied there.
"""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.datasets.base import GroupDataset, PictureDataset
    from groupcm.datasets.colonoscopy import fetch_cvc_clinicdb
    from groupcm.datasets.download import DownloadError, get_data_home
    from groupcm.datasets.generated import load_capsule, load_digit_groups
    from groupcm.datasets.pictures import fetch_bccd, fetch_magnetic_tiles
    from groupcm.datasets.proteins import fetch_signalp6, fetch_targetp2
    from groupcm.datasets.texts import fetch_amazon_google, fetch_wikiqa

__all__ = [
    "DownloadError",
    "GroupDataset",
    "PictureDataset",
    "fetch_amazon_google",
    "fetch_bccd",
    "fetch_cvc_clinicdb",
    "fetch_magnetic_tiles",
    "fetch_signalp6",
    "fetch_targetp2",
    "fetch_wikiqa",
    "get_data_home",
    "load_capsule",
    "load_digit_groups",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DownloadError": "download",
        "GroupDataset": "base",
        "PictureDataset": "base",
        "fetch_amazon_google": "texts",
        "fetch_bccd": "pictures",
        "fetch_cvc_clinicdb": "colonoscopy",
        "fetch_magnetic_tiles": "pictures",
        "fetch_signalp6": "proteins",
        "fetch_targetp2": "proteins",
        "fetch_wikiqa": "texts",
        "get_data_home": "download",
        "load_capsule": "generated",
        "load_digit_groups": "generated",
    },
)
