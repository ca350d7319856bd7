from .diff import common_prefix as common_prefix

__all__ = ["common_prefix"]
