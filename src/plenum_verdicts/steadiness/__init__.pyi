from .judged_protocols import KEPT as KEPT
from .judged_protocols import LEAST_CASES as LEAST_CASES
from .judged_protocols import JudgedProtocol as JudgedProtocol
from .judged_protocols import SteadyVerdict as SteadyVerdict
from .judged_protocols import judge_steadiness as judge_steadiness
from .judged_protocols import list_leads as list_leads
from .mechanical_votes import compare_reruns as compare_reruns
from .mechanical_votes import compare_wordings as compare_wordings
from .mechanical_votes import share_votes as share_votes
from .protocol_runs import ProtocolRuns as ProtocolRuns
from .protocol_runs import SteadyRuns as SteadyRuns
from .steady_plans import WORDINGS as WORDINGS
from .steady_plans import SteadyPlan as SteadyPlan
from .steady_plans import draw_protocols as draw_protocols
from .steady_plans import plan_steadiness as plan_steadiness
from .steady_plans import predict_power as predict_power
from .steady_tests import LEVEL as LEVEL
from .steady_tests import SteadyTest as SteadyTest

__all__ = [
    "KEPT",
    "LEAST_CASES",
    "LEVEL",
    "WORDINGS",
    "JudgedProtocol",
    "ProtocolRuns",
    "SteadyPlan",
    "SteadyRuns",
    "SteadyTest",
    "SteadyVerdict",
    "compare_reruns",
    "compare_wordings",
    "draw_protocols",
    "judge_steadiness",
    "list_leads",
    "plan_steadiness",
    "predict_power",
    "share_votes",
]
