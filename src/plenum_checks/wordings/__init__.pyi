from .meaning import JUDGE_REPAIR as JUDGE_REPAIR
from .meaning import JUDGE_SYSTEM as JUDGE_SYSTEM
from .meaning import MOST_MEANING as MOST_MEANING
from .meaning import Judgement as Judgement
from .meaning import Opinion as Opinion
from .meaning import Unread as Unread
from .meaning import ask_judge as ask_judge
from .meaning import is_flagged as is_flagged
from .meaning import read_opinion as read_opinion
from .rephrase import append_rephrasings as append_rephrasings

__all__ = [
    "JUDGE_REPAIR",
    "JUDGE_SYSTEM",
    "MOST_MEANING",
    "Judgement",
    "Opinion",
    "Unread",
    "append_rephrasings",
    "ask_judge",
    "is_flagged",
    "read_opinion",
]
