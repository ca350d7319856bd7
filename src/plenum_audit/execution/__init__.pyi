from .audit import run_audit as run_audit
from .fixed_runs import act as act
from .fixed_runs import draw_order as draw_order
from .fixed_runs import run_suite as run_suite
from .varied_runs import count_runs as count_runs
from .varied_runs import read_varied_runs as read_varied_runs

__all__ = [
    "act",
    "count_runs",
    "draw_order",
    "read_varied_runs",
    "run_audit",
    "run_suite",
]
