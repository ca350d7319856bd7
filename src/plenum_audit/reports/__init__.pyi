from .acting import advice_sentences as advice_sentences
from .acting import advice_table as advice_table
from .acting import publish_acts as publish_acts
from .acting import read_rule as read_rule
from .acting import remove_stale_acts as remove_stale_acts
from .acting_figure import draw_acting as draw_acting
from .outputs import REHEARSAL as REHEARSAL
from .profile import profile_sentences as profile_sentences
from .profile import profile_table as profile_table
from .profile_figure import draw_profile as draw_profile
from .publish import publish_audited as publish_audited
from .publish import publish_unbegun as publish_unbegun
from .publish import publish_unended as publish_unended
from .record import AuditSubject as AuditSubject
from .record import list_signatures as list_signatures
from .suite import SuitePart as SuitePart
from .suite import has_suite as has_suite
from .suite import publish_suite as publish_suite
from .suite import publish_unended_suite as publish_unended_suite
from .suite import sentences as sentences
from .suite_advice import write_sentences as write_sentences
from .suite_comparison import comparison_sentences as comparison_sentences
from .suite_gate import gate_sentences as gate_sentences
from .suite_source import SuiteSource as SuiteSource
from .suite_split import split_sentences as split_sentences

__all__ = [
    "REHEARSAL",
    "AuditSubject",
    "SuitePart",
    "SuiteSource",
    "advice_sentences",
    "advice_table",
    "comparison_sentences",
    "draw_acting",
    "draw_profile",
    "gate_sentences",
    "has_suite",
    "list_signatures",
    "profile_sentences",
    "profile_table",
    "publish_acts",
    "publish_audited",
    "publish_suite",
    "publish_unbegun",
    "publish_unended",
    "publish_unended_suite",
    "read_rule",
    "remove_stale_acts",
    "sentences",
    "split_sentences",
    "write_sentences",
]
