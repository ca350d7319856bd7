from .arms import LONE as LONE
from .figures import WORLD_DRAWINGS as WORLD_DRAWINGS
from .figures import draw_study as draw_study
from .findings import collect_facts as collect_facts
from .findings import list_findings as list_findings
from .groups import Group as Group
from .groups import are_without_roles as are_without_roles
from .groups import average_worlds as average_worlds
from .groups import group_runs as group_runs
from .publish import tabulate_study as tabulate_study
from .tables import format_mean as format_mean
from .tables import list_notes as list_notes

__all__ = [
    "LONE",
    "WORLD_DRAWINGS",
    "Group",
    "are_without_roles",
    "average_worlds",
    "collect_facts",
    "draw_study",
    "format_mean",
    "group_runs",
    "list_findings",
    "list_notes",
    "tabulate_study",
]
