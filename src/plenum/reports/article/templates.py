"""Sentences from templates: the words stand in ``page/``, and code gives them facts."""

import math
import re
import statistics
from collections.abc import Mapping
from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from plenum.reports.article import words
from plenum.reports.article.document import Block, Points, Text

_FILTERS = (
    *("between", "capital", "ci", "count", "counts", "interval", "listed", "lookup", "names"),
    *("number", "of_all", "p_value", "percent", "plural", "spaced", "spelt", "uncapital"),
)
"""What templates of sentences count, list and write numbers with."""

_PLACE = re.compile(r"\[\[(.+)]]")
_LEAD = re.compile(r"\*\*(.+?)\*\* ?(.*)")


def blocks(template: str, parts: Mapping[str, Block], **facts: object) -> list[Block]:
    """What a template says, as blocks of a page.

    Paragraphs are parted by empty lines. Lines that begin with ``- `` are items of a list, with
    their lead between double asterisks.

    Parameters
    ----------
    template
        A file of ``page/``.
    parts
        Tables and figures, which a template puts in by ``{{ place("name") }}``.
    facts
        What the template reads.
    """
    found: list[Block] = []
    for text in _parts(template, facts | {"place": partial(_place, parts), "parts": parts}):
        if (place := _PLACE.fullmatch(text)) and place[1] in parts:
            found.append(parts[place[1]])
        elif text.startswith("- "):
            items = [_item(item) for item in re.split(r"(?:^|\n)- ", text)[1:]]
            if found and isinstance(before := found[-1], Points):
                found[-1] = Points((*before.items, *items))
            else:
                found.append(Points(tuple(items)))
        else:
            found.append(Text(_squeezed(text)))
    return found


def paragraphs(template: str, **facts: object) -> list[str]:
    """A template of sentences, with facts put in: one text a paragraph."""
    return [_squeezed(text) for text in _parts(template, facts)]


@cache
def environment() -> Environment:
    """The templates of ``page/``, and the filters that they write numbers and lists with."""
    found = Environment(
        loader=PackageLoader("plenum.reports.article", "page"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {name: getattr(words, name) for name in _FILTERS}
    found.filters["median"] = statistics.median
    found.tests |= {"nan": math.isnan, "finite": math.isfinite}
    return found


def _parts(template: str, facts: dict[str, object]) -> list[str]:
    text = environment().get_template(template).render(facts)
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def _place(parts: Mapping[str, Block], name: str) -> str:
    """Where a table or a figure stands, as a paragraph of its own; empty where there is none."""
    return f"\n\n[[{name}]]\n\n" if name in parts else ""


def _item(text: str) -> tuple[str, str]:
    lead = _LEAD.match(text := _squeezed(text))
    return (lead[1], lead[2]) if lead else ("", text)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
