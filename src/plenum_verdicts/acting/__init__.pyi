from .act_rule import MOST_RUNS as MOST_RUNS
from .act_rule import ActRule as ActRule
from .acts import Acts as Acts
from .acts import estimate_acts as estimate_acts
from .agreement import Agreement as Agreement
from .agreement import estimate_agreement as estimate_agreement
from .case_act import CaseAct as CaseAct
from .case_act import apply_rule as apply_rule
from .choice import DEFAULT_RISK as DEFAULT_RISK
from .choice import ActAdvice as ActAdvice
from .choice import ActRisk as ActRisk
from .choice import advise_acting as advise_acting
from .risk import bound_risk as bound_risk
from .risk import e_value_of_risk as e_value_of_risk
from .rule_origin import RuleOrigin as RuleOrigin

__all__ = [
    "DEFAULT_RISK",
    "MOST_RUNS",
    "ActAdvice",
    "ActRisk",
    "ActRule",
    "Acts",
    "Agreement",
    "CaseAct",
    "RuleOrigin",
    "advise_acting",
    "apply_rule",
    "bound_risk",
    "e_value_of_risk",
    "estimate_acts",
    "estimate_agreement",
]
