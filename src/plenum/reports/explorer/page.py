"""One self-contained page: template, style, scripts and data joined, sealed against what they say.

Data are base64 of gzip: whatever a model wrote, a block holds letters, digits, ``+``, ``/`` and
``=`` alone. The Content-Security-Policy lets the page load nothing, and run nothing but the script
whose digest it names.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

_SCRIPTS = ("dom", "blocks", "about", "views", "forest")
"""The first scripts of every page."""

_READING = ("csv", "differences", "list", "plot", "conditions", "bar")
"""Scripts of pages with transcripts."""


@dataclass(frozen=True)
class Layout:
    """The parts of the page of a kind's studies, besides the shared ones.

    Attributes
    ----------
    title
        What the page is.
    example
        What one may write into the filter of conditions.
    body
        The asset with the figures and what stands below them.
    scripts
        Its scripts, in the order in which they are joined to the shared ones; the last opens it.
    frame
        The asset around the body.
    views
        The views beside that of replicates; each has a body, a style and a script of its name.
    """

    title: str
    example: str
    body: str
    scripts: tuple[str, ...]
    frame: str = "condition.html"
    views: tuple[str, ...] = ("watch", "search")

    @property
    def finder(self) -> "Layout":
        """The layout of the page that finds the conditions of a large study."""
        return replace(self, scripts=("finder",), frame="finder.html", views=())


def page(study: str, data: Mapping[str, Any], layout: Layout, live: bool = False) -> str:
    """Render the page of a study.

    Parameters
    ----------
    study
        Its name, for the title.
    data
        What is read under each id.
    layout
        What the page of its kind is made of.
    live
        True if it asks its server for what it doesn't hold.
    """
    style = "".join(map(_asset, ("page.css", *(f"{view}.css" for view in layout.views))))
    script = script_text(layout)
    rules = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    frame = rules.from_string(_asset(layout.frame))
    return rules.from_string(_asset("page.html")).render(
        study=study,
        layout=layout,
        frame=Markup(frame.render(layout=layout, live=live, body=Markup(_asset(layout.body)))),
        views=Markup("".join(_asset(f"{view}.html") for view in layout.views)),
        live=live,
        policy=policy(style, script, live),
        style=Markup(style),
        script=Markup(script),
        blocks={name: pack_page(block) for name, block in data.items()},
    )


def policy(style: str, script: str, live: bool = False) -> str:
    """Write the Content-Security-Policy: only what the page holds itself.

    A live page may ask its own server besides.
    """
    rules = {
        "default-src": "'none'",
        "script-src": _digest(script),
        "style-src": _digest(style),
        "img-src": "data:",
        "worker-src": "blob:",  # the search's, of this very script
        **({"connect-src": "'self'"} if live else {}),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{rule} {value}" for rule, value in rules.items())


def pack_page(block: Any) -> str:
    """Encode data as base64 of gzip of JSON; the same data give the same text."""
    text = json.dumps(block, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii")


@cache
def script_text(layout: Layout) -> str:
    """Join all scripts to one module."""
    shared = _SCRIPTS if layout.frame == "finder.html" else (*_SCRIPTS, *_READING)
    return "\n".join(_asset(f"{n}.js") for n in (*shared, *layout.views, *layout.scripts))


def _asset(name: str) -> str:
    return (files("plenum.reports.explorer") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
