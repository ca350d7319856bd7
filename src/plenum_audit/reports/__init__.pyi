from .publish import publish_audited as publish_audited
from .publish import publish_unbegun as publish_unbegun
from .publish import publish_unended as publish_unended
from .suite import publish_suite as publish_suite
from .suite import sentences as sentences

__all__ = [
    "publish_audited",
    "publish_suite",
    "publish_unbegun",
    "publish_unended",
    "sentences",
]
