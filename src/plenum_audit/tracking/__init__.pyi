from .programs import collect_calls as collect_calls
from .programs import collect_ensemble as collect_ensemble
from .programs import tabulate_programs as tabulate_programs

__all__ = [
    "collect_calls",
    "collect_ensemble",
    "tabulate_programs",
]
