from .arms import LONE as LONE
from .figures import WORLD_DRAWINGS as WORLD_DRAWINGS
from .figures import draw_study as draw_study
from .findings import answer as answer
from .findings import facts as facts
from .groups import Group as Group
from .groups import group_runs as group_runs
from .groups import over_worlds as over_worlds
from .groups import without_roles as without_roles
from .publish import tabulate_study as tabulate_study
from .tables import mean_cell as mean_cell
from .tables import notes as notes

__all__ = [
    "LONE",
    "WORLD_DRAWINGS",
    "Group",
    "answer",
    "draw_study",
    "facts",
    "group_runs",
    "mean_cell",
    "notes",
    "over_worlds",
    "tabulate_study",
    "without_roles",
]
