"""Section 3: realised n, failures and what is pending."""

from collections import Counter

from plenum.dynamics import association
from plenum.reports.accounting.common import WHY, in_order, spaced, spent_by, whys_in
from plenum.reports.article.document import Block, Text
from plenum.reports.article.families import ALPHA
from plenum.reports.article.material import Material
from plenum.reports.article.words import (
    capital,
    count,
    counts_between,
    ended,
    listed,
    p_value,
    verb,
)


def attrition(material: Material) -> list[Block]:
    """target = completed + failed + pending, in all and where conditions differ."""
    blocks: list[Block] = [Text(_in_all(material)), *material.grid("accounts")]
    failed = any(a.tracked.failures for a in material.accounted)
    if failed:
        blocks += [Text(_reasons(material)), *material.grid("failures")]
        blocks += [Text(_arms(material)), *material.grid("attrition")]
    blocks.append(Text(_calls(material)))
    return blocks


def _in_all(material: Material) -> str:
    found = material.accounted
    target = sum(a.tracked.target for a in found)
    done = sum(a.tracked.completed for a in found)
    failed = sum(sum(a.tracked.failures.values()) for a in found)
    pending = sum(sum(a.pending.values()) for a in found)
    said = ended(target, done, failed, pending, "replicate")
    each = [a.tracked.completed for a in found]
    if len(each) > 1:
        said += (
            f" Every condition has n = {each[0]}."
            if len(set(each)) == 1
            else f" The realised n of a condition is {counts_between(each)}."
        )
    lost = material.grid("accounts")
    if lost:
        said += f" {material.table('accounts')} has the conditions one by one."
    if len(found) < len(material.every):
        said += " A condition that stands under two labels is counted once."
    whys = whys_in(found)
    if pending:
        reasons = listed([f"{spaced(w)} ({WHY[w]})" if w in WHY else spaced(w) for w in whys])
        said += (
            f" Why {verb(pending, 'it is', 'they are')} pending: {reasons}. Replicates that fail "
            "end sooner than those that complete, so that failure rates are too high while some "
            "are pending; the same run command finishes them."
        )
    return said


def _reasons(material: Material) -> str:
    reasons = Counter[str]()
    for a in material.accounted:
        reasons.update(a.tracked.failures)
    told = listed([f"{spaced(reason)} ({reasons[reason]:,})" for reason in in_order(set(reasons))])
    return (
        f"Replicates failed for {verb(len(reasons), 'this reason', 'these reasons')}: {told} "
        f"({material.table('failures')}). Failed replicates are left out of every estimate, and "
        "were not replaced by fresh draws."
    )


def _arms(material: Material) -> str:
    """Whether failure goes with the condition."""
    tracked = [a.tracked for a in material.accounted]
    found = association([t.completed for t in tracked], [sum(t.failures.values()) for t in tracked])
    where = material.table("attrition")
    if found.untested:
        return capital(f"{found.untested}, so that there is no test of whether failure goes with "
                       f"the condition ({where}).")  # fmt: skip
    rates = f"failure rates run from {100 * found.lowest:.1f} % to {100 * found.highest:.1f} %"
    if found.p < ALPHA:
        return (
            f"Failure goes with the condition ({p_value(found.p)}, Cramér's V = "
            f"{found.cramers_v:.2f}, {where}): {rates}. What is left of the conditions that lost "
            "most is a selected set, and their estimates may be biased by it."
        )
    said = (
        f"No association of failure with the condition was found ({p_value(found.p)}, {where}; "
        f"{rates}). With {count(found.failed, 'failure')} the test could miss one"
    )
    if found.least_p > ALPHA:
        said += (
            "; with so few it could not have found any, since p can't fall below "
            f"{found.least_p:.2f}"
        )
    return said + "."


def _calls(material: Material) -> str:
    known = [a for a in material.accounted if a.models is not None]
    spent = spent_by(known)
    if spent is None or not spent.calls:
        return "What the calls took is not recorded yet."
    asked = spent.calls - spent.repairs
    said = f"Agents and clerk were asked {asked:,} times; "
    if spent.repairs:
        again = f"{count(spent.repairs, 'answer')} ({100 * spent.repairs / asked:.2f} %)"
        said += f"{again} had to be asked for again because the first could not be read"
    else:
        said += "no answer had to be repaired"
    said += f", and {count(spent.failed_attempts, 'attempt')} failed."
    if spent.cost:
        said += f" The answers cost ${spent.cost:,.2f}"
        said += f", {spent.unpriced:,} of unknown price left out." if spent.unpriced else "."
    if len(known) < len(material.accounted):
        missing = len(material.accounted) - len(known)
        said += (
            f" {capital(count(missing, 'condition'))} whose accounts are not written yet "
            f"{verb(missing, 'is', 'are')} not in these counts."
        )
    return said
