"""Tables, figures and pages from tracked results.

Nothing is imported here, since MLflow is slow.
"""

from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {
        "reports.figures.catalogue": "Drawing", "reports.publication": "Product publish_product",
        "reports.settings": "Settings", "show.formats": "format_decimals format_interval",
        "show.table": "Column Table make_keys",
    })  # fmt: skip
