from . import items as items
from . import publish as publish
from .catalogue import CATALOGUE as CATALOGUE
from .items import Experiment as Experiment
from .items import PaperItem as PaperItem
from .published_values import read_numbers as read_numbers
from .source import TableSource as TableSource
from .worlds import DRAWINGS as DRAWINGS

__all__ = [
    "CATALOGUE",
    "DRAWINGS",
    "Experiment",
    "PaperItem",
    "TableSource",
    "items",
    "publish",
    "read_numbers",
]
