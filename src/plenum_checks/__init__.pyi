from . import calibration_page as calibration_page
from . import generators as generators

__all__ = [
    "calibration_page",
    "generators",
]
