from .theory.exact_results import Monotonicity as Monotonicity
from .theory.exact_results import check_monotonicity as check_monotonicity
from .theory.exact_results import compute_expected as compute_expected
from .theory.exact_results import is_stable as is_stable
from .theory.grid import FIGURE_6 as FIGURE_6
from .theory.grid import GridResult as GridResult
from .theory.grid import ParameterGrid as ParameterGrid
from .theory.model import simulate as simulate
from .two_lines import TwoLines as TwoLines
from .two_lines import fit_two_lines as fit_two_lines
from .within_world import estimate_divergence as estimate_divergence

__all__ = [
    "FIGURE_6",
    "GridResult",
    "Monotonicity",
    "ParameterGrid",
    "TwoLines",
    "check_monotonicity",
    "compute_expected",
    "estimate_divergence",
    "fit_two_lines",
    "is_stable",
    "simulate",
]
