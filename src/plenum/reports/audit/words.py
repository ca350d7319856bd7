"""The sentences of an audit, from ``words.j2``."""

from collections.abc import Mapping

from plenum.base.text import flatten
from plenum.reports.audit.audit import Audit, CaseAudit
from plenum.reports.phrases import paragraphs


def lead(audit: Audit) -> str:
    """The verdict in a sentence."""
    return " ".join(words("verdict", audit))


def line(audit: Audit, case: CaseAudit) -> str:
    """The verdict on a case in a sentence."""
    return " ".join(words("of_case", audit, case=case))


def words(macro: str, audit: Audit, **facts: object) -> list[str]:
    """A macro of ``words.j2``, a text a paragraph."""
    known = {"alike": share, "weight": evidence, "shown": listed, "flat": flatten}
    return paragraphs("audit/words.j2", macro, audit=audit, **known, **facts)


def share(value: float, low: float, high: float) -> str:
    """A share in whole percent with its interval, as in ``97 % [90, 99]``."""
    return f"{100 * value:.0f} % [{_percent(low)}, {_percent(high)}]"


def _percent(bound: float) -> str:
    """A bound in whole percent; 100 is one that lies there."""
    return f"{min(100 * bound, 99.4):.0f}" if bound < 1 else "100"


def evidence(value: float) -> str:
    """An e-value with two significant digits; a large one as a power of ten."""
    if value >= 1e4:
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def listed(counts: Mapping[str, int]) -> str:
    """Counts by name, as in ``A 38, B 2``."""
    return ", ".join(f"{flatten(name)} {n}" for name, n in counts.items())
