from .publish import publish_rules as publish_rules

__all__ = [
    "publish_rules",
]
