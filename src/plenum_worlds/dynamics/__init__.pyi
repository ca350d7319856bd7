from .recovery import Recovery as Recovery
from .recovery import recoveries as recoveries
from .recovery import recovery_time as recovery_time
from .theory.exact import Monotonicity as Monotonicity
from .theory.exact import monotonicity as monotonicity
from .theory.grid import ParameterGrid as ParameterGrid
from .theory.model import simulate as simulate
from .two_lines import TwoLines as TwoLines
from .two_lines import fit_two_lines as fit_two_lines
from .within_world import parting as parting

__all__ = [
    "Monotonicity",
    "ParameterGrid",
    "Recovery",
    "TwoLines",
    "fit_two_lines",
    "monotonicity",
    "parting",
    "recoveries",
    "recovery_time",
    "simulate",
]
