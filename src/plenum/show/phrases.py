"""Words from templates: paragraphs, and the filters that write counts and numbers in them."""

import math
import re
import statistics
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
    select_autoescape,
)

from plenum.base.project import as_typed
from plenum.base.shares import format_percent_between, percent
from plenum.show.formats import format_growth, format_interval, round_p

LISTED = 6
"""The number of conditions that longer lists name before they count the rest."""

_SMALL = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class IntervalEstimate(Protocol):
    """A number with a 95 % interval."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def ci_low(self) -> float:
        """The lower limit."""

    @property
    def ci_high(self) -> float:
        """The upper limit."""


def spell_count(n: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun: "no replicates", "one replicate", "12 replicates"."""
    spelled = "no" if n == 0 else spelt(n)
    return f"{spelled} {noun if n == 1 else plural or noun + 's'}"


def spelt(n: int) -> str:
    """Write a count below ten as a word."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


def of_all(n: int, total: int) -> str:
    """Write a part of a total: "both", "all four", "one of four", "none of 14"."""
    if n == total > 1:
        return "both" if n == 2 else f"all {spelt(n)}"
    return f"{spelt(n)} of {spelt(total)}"


def percents(shares: Iterable[float]) -> str:
    """Write a share in whole percent, or the range of several: "17 %", "17 to 31 %"."""
    rounded = sorted({round(100 * share) for share in shares})
    return f"{rounded[0]} %" if len(rounded) == 1 else f"{rounded[0]} to {rounded[-1]} %"


def share_with_limits(share: IntervalEstimate) -> str:
    """Write a share in whole percent with its interval: "15 % [3, 38]"."""
    return format_percent_between(share.value, share.ci_low, share.ci_high)


def plural(n: int, singular: str, plural_form: str) -> str:
    """Choose the form of a verb or a noun for a number."""
    return singular if n == 1 else plural_form


def space_words(name: str) -> str:
    """Write an identifier as words."""
    return name.replace("_", " ")


def lookup(key: str, phrases: Mapping[str, str]) -> str:
    """Look up the phrase for a key; return the key if it has none."""
    return phrases.get(key, key)


def join_items(items: Iterable[str], last: str = "and") -> str:
    """List items as a sentence does; semicolons separate those that hold a comma."""
    items = list(items)
    if len(items) < 2:
        return "".join(items)
    if any("," in item for item in items):
        return f"{'; '.join(items[:-1])}; {last} {items[-1]}"
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def join_names(items: Iterable[str], where: str = "", most: int = LISTED) -> str:
    """List items, the first few of a long list; ``where`` says where the rest is."""
    items = list(items)
    if len(items) <= most + 1:
        return "; ".join(items)
    rest = len(items) - most
    return f"{'; '.join(items[:most])}; and {rest} more" + (f" ({where})" if where else "")


def capital(text: str) -> str:
    """Capitalise a text that begins a sentence; symbols such as λ̂ stay as they are."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def uncapital(text: str) -> str:
    """Uncapitalise a text that begins no sentence; names and symbols such as D(t) stay."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def number(value: float, digits: int = 4) -> str:
    """Write a number with some decimals, as tables do."""
    return f"{value:z.{digits}f}"


def interval(low: float, high: float, digits: int = 4) -> str:
    """Write a 95 % interval in brackets; say so if there is none."""
    known = math.isfinite(low) and math.isfinite(high)
    return format_interval(low, high, digits) if known else "[no interval]"


def ci(estimate: IntervalEstimate, digits: int = 4) -> str:
    """Write a number with its interval."""
    bounds = interval(estimate.ci_low, estimate.ci_high, digits)
    return f"{number(estimate.value, digits)} {bounds}"


def growing(growth: IntervalEstimate) -> str:
    """Write growth per round in percent, with its interval."""
    return format_growth(growth.value, growth.ci_low, growth.ci_high)


def p_value(p: float, name: str = "p") -> str:
    """Write a p-value: "p = 0.012", "p < 0.0001"."""
    if math.isnan(p):
        return f"{name} doesn't exist"
    return f"{name} < 0.0001" if p < 1e-4 else f"{name} = {round_p(p)}"


def format_range(values: Iterable[float], digits: int = 3) -> str:
    """Write one value, or the range of several: "0.10", "0.10 to 0.32"."""
    values = list(values)
    low, high = number(min(values), digits), number(max(values), digits)
    return low if low == high else f"{low} to {high}"


def counts(values: Iterable[int]) -> str:
    """Write one count, or the range of several."""
    values = list(values)
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def render(template: str, macro: str = "", /, **facts: Any) -> list[str]:
    """Render a template with facts: one text a paragraph; empty lines separate these.

    Parameters
    ----------
    template
        A file of this room, or one beside other modules, as in ``plenum.reports/notes.j2``.
    macro
        The macro of the template that has the words; all of the template without it.
    """
    return [squeeze(text) for text in parts(template, macro, facts)]


def parts(template: str, macro: str, facts: dict[str, Any]) -> list[str]:
    """Render a template with facts, paragraph by paragraph, with its line breaks."""
    compiled = make_environment().get_template(template)
    text = str(getattr(compiled.make_module(facts), macro)()) if macro else compiled.render(facts)
    return [part.strip() for part in re.split(r"\n\s*\n", as_typed(text)) if part.strip()]


def squeeze(text: str) -> str:
    """Join a text to one line, with single spaces."""
    return " ".join(text.split())


def _of_a_package(template: str) -> str | None:
    """Return the text of a template that is in another package, next to its modules."""
    package, _, name = template.partition("/")
    try:
        return (files(package) / name).read_text(encoding="utf-8")
    except (ImportError, OSError):  # Jinja then names the template that isn't there
        return None


@cache
def make_environment() -> Environment:
    """Make the environment of the reports' templates, with filters for numbers and lists."""
    here = FileSystemLoader(Path(__file__).parent)
    jinja = Environment(
        loader=ChoiceLoader([here, FunctionLoader(_of_a_package)]),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: tuple[Callable[..., str], ...] = (
        format_range, capital, ci, counts, growing, interval, join_items, lookup, number, of_all,
        p_value, percent, percents, plural, share_with_limits, squeeze, spelt,
    )  # fmt: skip
    jinja.filters |= {write.__name__: write for write in filters}
    jinja.filters |= {"count": spell_count, "names": join_names}
    jinja.filters |= {"median": statistics.median, "apply": lambda value, use: use(value)}
    jinja.tests["nan"] = math.isnan
    jinja.tests["contains"] = lambda items, one: one in items
    return jinja
