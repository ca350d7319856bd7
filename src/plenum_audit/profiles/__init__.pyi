from .calibration import ConfidenceBin as ConfidenceBin
from .calibration import ConfidenceCalibration as ConfidenceCalibration
from .calibration import assess_calibration as assess_calibration
from .discrimination import RiskPoint as RiskPoint
from .discrimination import estimate_area as estimate_area
from .discrimination import trace_risk as trace_risk
from .profile import Predictability as Predictability
from .profile import ProfileRuns as ProfileRuns
from .profile import ReliabilityProfile as ReliabilityProfile
from .profile import assess_profile as assess_profile
from .profile_estimate import ProfileEstimate as ProfileEstimate
from .robustness import FAULTS as FAULTS
from .robustness import ORDER as ORDER
from .robustness import UNCHANGED as UNCHANGED
from .robustness import WORDINGS as WORDINGS
from .robustness import ChangedRuns as ChangedRuns
from .robustness import Robustness as Robustness
from .robustness import assess_change as assess_change
from .spread import estimate_spread as estimate_spread
from .stated_runs import StatedRuns as StatedRuns

__all__ = [
    "FAULTS",
    "ORDER",
    "UNCHANGED",
    "WORDINGS",
    "ChangedRuns",
    "ConfidenceBin",
    "ConfidenceCalibration",
    "Predictability",
    "ProfileEstimate",
    "ProfileRuns",
    "ReliabilityProfile",
    "RiskPoint",
    "Robustness",
    "StatedRuns",
    "assess_calibration",
    "assess_change",
    "assess_profile",
    "estimate_area",
    "estimate_spread",
    "trace_risk",
]
