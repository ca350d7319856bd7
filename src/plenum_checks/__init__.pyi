from . import calibration_page as calibration_page
from . import determinism as determinism
from . import determinism_report as determinism_report
from . import generators as generators
from . import meaning_judge as meaning_judge
from . import variants as variants

__all__ = [
    "calibration_page",
    "determinism",
    "determinism_report",
    "generators",
    "meaning_judge",
    "variants",
]
