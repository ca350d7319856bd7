from . import calibration_page as calibration_page
from . import determinism as determinism
from . import determinism_report as determinism_report
from . import generators as generators

__all__ = [
    "calibration_page",
    "determinism",
    "determinism_report",
    "generators",
]
