from .two_lines import TwoLines as TwoLines
from .two_lines import fit_two_lines as fit_two_lines
from .within_world import estimate_divergence as estimate_divergence

__all__ = [
    "TwoLines",
    "estimate_divergence",
    "fit_two_lines",
]
