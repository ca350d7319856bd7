from .publish import publish_report as publish_report

__all__ = ["publish_report"]
