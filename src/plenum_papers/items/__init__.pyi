from . import collection as collection
from . import items as items
from . import publish as publish
from .items import Experiment as Experiment
from .items import PaperItem as PaperItem
from .published_values import read_numbers as read_numbers

__all__ = [
    "Experiment",
    "PaperItem",
    "collection",
    "items",
    "publish",
    "read_numbers",
]
