from .released_rules import play_released_rules as play_released_rules

__all__ = ["play_released_rules"]
