from .records import make_item_id as make_item_id

__all__ = ["make_item_id"]
