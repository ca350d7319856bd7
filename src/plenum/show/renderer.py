"""A report as HTML and as Markdown: the same words, escaped for either."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup, escape

from plenum.show.document import Document, Grid, Picture, Points, Sides, Text
from plenum.show.markdown import format_markdown as markdown_of
from plenum.show.phrases import make_environment

_LARGEST = 1_500_000
"""A vector drawing larger than this, in bytes, is embedded as a bitmap."""

_REFERENCE = re.compile(r"\b(Table|Figure|Section) (\d+)\b")
_SIGN = re.compile(r" ([=%])")
_WITHIN = re.compile(r" (?=[\d±%=]|[^\[\]]*\])")
"""A space in a cell before a number or its sign, and within brackets."""

_HAT = re.compile(r"Δ?[λΓ]\u0302")
_MARKS = re.compile(r"([\\`*<>|~$&]|(?<!\w)_|_(?!\w)|\](?=[(\[])|^\[)")


def render_html(document: Document) -> str:
    """Render one self-contained page, which runs nothing but the sorting of a sortable table."""
    page = _environment().get_template("report.html")
    every = (block for section in document.sections for block in section.blocks)
    sorts = any(isinstance(block, Grid) and block.sortable for block in every)
    style, script = _style(), _file("report.sort.js") if sorts else ""
    if sorts:
        style += _file("report.sort.css")
    return page.render(
        document=document,
        style=Markup(style),
        digest=_digest(style),
        script=Markup(script),
        script_digest=_digest(script),
    )


def _digest(text: str) -> str:
    """Return the digest by which a page's security policy allows a style or a script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def render_markdown(document: Document) -> str:
    """Render the report as Markdown; the files of its figures are next to it."""
    page = _environment().get_template("report.md.j2")
    return page.render(document=document).rstrip() + "\n"


@cache
def _environment() -> Environment:
    jinja = make_environment().overlay()
    jinja.filters = jinja.filters | {
        "linked": _add_links,
        "broken": _break_cell,
        "embedded": _embed,
        "plain": _plain,
        "markdown": _grid,
    }
    jinja.tests = jinja.tests | {
        "text": lambda block: isinstance(block, Text),
        "points": lambda block: isinstance(block, Points),
        "grid": lambda block: isinstance(block, Grid),
        "sides": lambda block: isinstance(block, Sides),
    }
    return jinja


def _style() -> str:
    return _file("report.css")


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _add_links(text: str) -> Markup:
    """Link the references of a text, and keep its numbers with their signs."""
    linked = _REFERENCE.sub(_link, str(escape(text)))
    kept = _SIGN.sub("\u00a0\\1", linked).replace("=\u0020", "=\u00a0")
    return Markup(_HAT.sub(r'<span class="symbol">\g<0></span>', kept))


def _link(match: "re.Match[str]") -> str:
    return f'<a href="#{match[1].lower()}-{match[2]}">{match[0]}</a>'


def _break_cell(text: str) -> Markup:
    """Write a cell with its lines, and no break within an interval."""
    return Markup("<br>").join(_WITHIN.sub("\u00a0", line) for line in text.split("\n"))


def _embed(picture: Picture) -> str:
    """Encode a figure as the address of an image, which can neither run nor fetch."""
    svg = next((f for f in picture.files if f.suffix == ".svg"), None)
    png = next((f for f in picture.files if f.suffix == ".png"), None)
    file = svg if svg is not None and svg.stat().st_size <= _LARGEST else png or svg
    assert file is not None
    kind = "svg+xml" if file.suffix == ".svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def _grid(block: Grid) -> str:
    caption = f"**Table {block.number}.** {_plain(block.sheet.title)}"
    return markdown_of(block.sheet, caption, _plain).removesuffix("\n")


def _plain(text: str) -> str:
    """Escape a text."""
    return _MARKS.sub(_mark, text).replace("\n", "<br>")


def _mark(match: "re.Match[str]") -> str:
    return "&amp;" if match[0] == "&" else "&lt;" if match[0] == "<" else f"\\{match[0]}"
