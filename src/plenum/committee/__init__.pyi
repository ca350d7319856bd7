from . import ballots as ballots
from . import prompts as prompts
from .ballots import NONE as NONE
from .ballots import EndedDeliberation as EndedDeliberation
from .condition import CommitteeCondition as CommitteeCondition
from .condition import Seat as Seat
from .condition import require_committee as require_committee
from .deliberation import Deliberation as Deliberation
from .failures import classify_failure as classify_failure
from .frame import PLENUM as PLENUM
from .frame import Frame as Frame
from .frame_files import FRAME_TEMPLATES as FRAME_TEMPLATES
from .frame_files import list_template_problems as list_template_problems
from .state import Malformed as Malformed
from .state import parse_answer as parse_answer

__all__ = [
    "FRAME_TEMPLATES",
    "NONE",
    "PLENUM",
    "CommitteeCondition",
    "Deliberation",
    "EndedDeliberation",
    "Frame",
    "Malformed",
    "Seat",
    "ballots",
    "classify_failure",
    "list_template_problems",
    "parse_answer",
    "prompts",
    "require_committee",
]
