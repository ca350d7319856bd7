from .publish import publish_audited as publish_audited
from .publish import publish_suite as publish_suite
from .publish import publish_unended as publish_unended

__all__ = ["publish_audited", "publish_suite", "publish_unended"]
