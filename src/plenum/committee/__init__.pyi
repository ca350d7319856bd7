from . import prompts as prompts
from .ballots import NONE as NONE
from .condition import CommitteeCondition as CommitteeCondition
from .condition import Seat as Seat
from .condition import require_committee as require_committee
from .decisions import Ended as Ended
from .deliberation import Deliberation as Deliberation
from .failures import classify_failure as classify_failure
from .frame import FRAME_TEMPLATES as FRAME_TEMPLATES
from .frame import PLENUM as PLENUM
from .frame import Frame as Frame
from .frame import template_problems as template_problems
from .state import Malformed as Malformed
from .state import even_state as even_state
from .state import parse_answer as parse_answer

__all__ = [
    "FRAME_TEMPLATES",
    "NONE",
    "PLENUM",
    "CommitteeCondition",
    "Deliberation",
    "Ended",
    "Frame",
    "Malformed",
    "Seat",
    "classify_failure",
    "even_state",
    "parse_answer",
    "prompts",
    "require_committee",
    "template_problems",
]
