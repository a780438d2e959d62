"""What the user passes, checked: groups, labels, frames, folds and tables of candidates."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.data.folds import group_folds
    from groupcm.data.group_table import GroupTable, group_level
    from groupcm.data.groups import GroupIndex, index_groups
    from groupcm.data.tables.all_groups import read_all_groups
    from groupcm.data.tables.candidates import CandidateTable, read_tables
    from groupcm.data.tables.sorting import sort_tables

__all__ = [
    "CandidateTable",
    "GroupIndex",
    "GroupTable",
    "group_folds",
    "group_level",
    "index_groups",
    "read_all_groups",
    "read_tables",
    "sort_tables",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "read_all_groups": "tables.all_groups",
        "CandidateTable": "tables.candidates",
        "GroupIndex": "groups",
        "GroupTable": "group_table",
        "group_folds": "folds",
        "group_level": "group_table",
        "index_groups": "groups",
        "read_tables": "tables.candidates",
        "sort_tables": "tables.sorting",
    },
)
