"""Sources of the differences between runs in sentences."""

from collections.abc import Iterator, Mapping, Sequence

from plenum.reports import join_items
from plenum_verdicts.suites import SourceSplit

_SHOWN = 2
"""Number of sources that get a sentence."""


def explain_split(split: SourceSplit) -> Iterator[str]:
    """Yield what each source adds, the largest first, and what the log can't tell apart."""
    if split.between_cases is not None and split.run is not None and split.sources:
        yield _shares(split, split.between_cases, split.run)
    for source in split.sources[:_SHOWN]:
        name = join_items(source.columns)
        limits = source.interval
        shown = f" [{100 * limits[0]:.1f}, {100 * limits[1]:.1f}]" if limits else ""
        yield (
            f"Of two runs of a case with the same {name}, {100 * source.shared:.1f} % end "
            f"differently; a different {name} adds {100 * source.more:.1f} points{shown} "
            f"(from {source.cases:,} cases)."
        )
    if told := _untold(split):
        yield told


def explain_changes(split: Mapping[str, SourceSplit], asked: Sequence[str]) -> Iterator[str]:
    """Yield what each change adds that was made in further runs of a suite.

    Parameters
    ----------
    split
        The split of the usual runs and those with a change, by its name.
    asked
        Names of all changes that were asked for.
    """
    for name in asked:
        if name not in split:
            yield f"No case has another {name}: give a list wordings, or columns.wordings=COLUMN."
        elif split[name].sources:
            yield from explain_split(split[name])
        else:
            yield f"Fewer than two cases show what a different {name} changes."


def _shares(split: SourceSplit, between: float, run: float) -> str:
    """Say how the variance of a score is shared out; estimates below 0 count as 0."""
    parts = {"between cases": max(between, 0.0)}
    for source in split.sources:
        parts[f"from {join_items(source.columns)}"] = max(source.variance or 0.0, 0.0)
    every = join_items([name for source in split.sources for name in source.columns])
    parts[f"between runs with the same {every}"] = max(run, 0.0)
    total = sum(parts.values())
    if not total:
        return "The score of a run doesn't vary."
    *shares, last = (f"{100 * part / total:.0f} % {name}" for name, part in parts.items())
    return (
        f"If {every} may differ, the variance of a run's score splits into {', '.join(shares)}, "
        f"and {last}."
    )


def _untold(split: SourceSplit) -> str:
    """Say what the log doesn't tell; empty if there is nothing."""
    told = []
    if together := [each.columns for each in split.sources if len(each.columns) > 1]:
        groups = "; ".join(map(join_items, together))
        told.append(f"These always change together, so that they count as one: {groups}.")
    if split.inseparable:
        told.append(
            f"The log can't tell the part of {join_items(split.inseparable)}: it varies with "
            "other columns."
        )
    if split.as_run:
        told.append(
            f"Runs of a case all differ in {join_items(split.as_run)}, which can't be told from "
            "the run itself."
        )
    if split.incomplete:
        told.append(f"Left out, since some runs lack it: {join_items(split.incomplete)}.")
    if more := split.sources[_SHOWN:]:
        told.append(f"suite.json has {len(more)} more.")
    if not split.sources and not told:
        told.append(
            "Sources: within cases no runs differ in wording, model, version, fingerprint, day or "
            "seed, as far as is known."
        )
    return " ".join(told)
