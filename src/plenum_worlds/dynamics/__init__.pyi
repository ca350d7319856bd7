from .recovery import Recovery as Recovery
from .recovery import recoveries as recoveries
from .recovery import recovery_time as recovery_time
from .two_lines import TwoLines as TwoLines
from .two_lines import fit_two_lines as fit_two_lines
from .within_world import parting as parting

__all__ = ["Recovery", "TwoLines", "fit_two_lines", "parting", "recoveries", "recovery_time"]
