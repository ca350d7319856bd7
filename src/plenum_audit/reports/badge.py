"""The badge of an audit: one line as an SVG image."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from plenum.base import flatten
from plenum.reports import uncapital
from plenum_audit.reports.audit import AuditReport
from plenum_audit.reports.outputs import REHEARSAL
from plenum_audit.reports.words import headline, roughly, share

_COLOURS = {True: "#1a7f37", False: "#b42318", None: "#7a5a00"}
"""Colours by the meaning of the exit status."""

_LETTER = 6.6
"""Mean width of a letter at 11 pixels."""

LABEL = "decides alike"


def line(audit: AuditReport) -> str:
    """Return the words: the share of one case, or the stable cases and the lowest share; accuracy.

    If the audit was stopped before a verdict, they say only that.
    """
    if audit.stopped:
        return "stopped, no verdict"
    shares = [(case.share, case.runs) for case in audit.cases if case.share]
    lowest, runs = min(shares, key=lambda pair: pair[0].value)
    words = f"{share(lowest.value, lowest.low, lowest.high)}, n {runs}"
    if len(audit.cases) > 1:
        words = f"{len(audit.of('stable'))}/{len(audit.cases)} cases, lowest {words}"
    if audit.accuracy:
        words += f", {roughly(audit.accuracy.value)} right"
    return f"{words}, {REHEARSAL}" if audit.controlled.simulated else words


def badge(audit: AuditReport) -> str:
    """Return the badge, as wide as its words."""
    words = line(audit)
    widths = [round(_LETTER * len(part)) + 12 for part in (LABEL, words)]
    return _template().render(
        label=LABEL,
        words=words,
        widths=widths,
        colour=_COLOURS[audit.passed],
        title=f"{flatten(audit.committee)}: {uncapital(headline(audit))}",
    )  # fmt: skip


@cache
def _template() -> Template:
    text = (files("plenum_audit.reports") / "badge.svg.j2").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(text)
