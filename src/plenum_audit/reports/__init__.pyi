from .publish import publish_audited as publish_audited
from .publish import publish_unbegun as publish_unbegun
from .publish import publish_unended as publish_unended
from .suite import SuitePart as SuitePart
from .suite import publish_suite as publish_suite
from .suite import sentences as sentences
from .suite_buying import buying_sentences as buying_sentences
from .suite_comparison import comparison_sentences as comparison_sentences
from .suite_gate import gate_sentences as gate_sentences

__all__ = [
    "SuitePart",
    "buying_sentences",
    "comparison_sentences",
    "gate_sentences",
    "publish_audited",
    "publish_suite",
    "publish_unbegun",
    "publish_unended",
    "sentences",
]
