"""Tables, figures and pages from tracked results.

Nothing is imported here, since MLflow is slow.
"""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "reports.figures.catalogue": "Drawing",
        "reports.publication": "Product publish_product",
        "reports.settings": "Settings",
        "show.formats": "format_decimals format_interval",
        "show.table": "Column Table make_keys",
    },
)
