"""Section 3: realised n, failures, what is pending, and what the calls took."""

from collections import Counter
from typing import Any

from plenum.dynamics import association
from plenum.reports.accounting.common import WHY, in_order, spaced, spent_by, whys_in
from plenum.reports.article.families import ALPHA
from plenum.reports.article.material import Material


def facts(material: Material) -> dict[str, Any]:
    """target = completed + failed + pending, in all and where conditions differ."""
    counted = material.accounted
    tracked = [a.tracked for a in counted]
    failures = [sum(t.failures.values()) for t in tracked]
    reasons = sum((Counter(t.failures) for t in tracked), Counter[str]())
    known = [a for a in counted if a.models is not None]
    return {
        "target": sum(t.target for t in tracked),
        "done": sum(t.completed for t in tracked),
        "failed": sum(failures),
        "pending": sum(sum(a.pending.values()) for a in counted),
        "each": [t.completed for t in tracked],
        "twice": len(counted) < len(material.every),
        "whys": [
            f"{spaced(why)} ({WHY[why]})" if why in WHY else spaced(why) for why in whys_in(counted)
        ],
        "reasons": [f"{spaced(reason)} ({reasons[reason]:,})" for reason in in_order(set(reasons))],
        "association": association([t.completed for t in tracked], failures),
        "alpha": ALPHA,
        "spent": spent_by(known),
        "unknown": len(counted) - len(known),
    }
