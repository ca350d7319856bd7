"""The archive's README, written for a reader who doesn't know plenum.

Its text is in readme.md.j2, and the parts that differ by kind in the blocks of readme_KIND.md.j2.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from plenum.base.yaml_files import read_yaml
from plenum.design.factors import list_varying
from plenum.reports.settings import Settings
from plenum.show.markdown import load_template
from plenum.tracking.conditions import is_simulated
from plenum_archive.gather import ArchivedCondition

_MEANINGS = Path(__file__).with_suffix(".yaml")
_OF_ITS_KIND = "a table of this kind of study, explained by its package"


def readme(
    chosen: Settings,
    conditions: Sequence[ArchivedCondition],
    counts: Mapping[str, int],
    failures: Counter[str],
    tables: Sequence[str],
) -> str:
    """Return Markdown on what the archive is, how to read and check it, and what it can't show."""
    kind, said = conditions[0].run.kind, read_yaml(_MEANINGS, "archive")
    params = [condition.run.params for condition in conditions]
    differing = list_varying(params, kind.factors)
    artifacts = (name for condition in conditions for name in condition.artifacts)
    held = {"runs.json", "transcripts/NNN.jsonl", *artifacts}
    words = Path(__file__).with_name(f"readme_{kind.name}.md.j2")
    page = load_template(words if words.exists() else words.with_name("readme.md.j2"))
    return page.render(
        study=chosen.study,
        chosen=chosen,
        counts=counts,
        failures=sorted(failures.items()),
        backends=sorted({values.get("backend", "") for values in params}),
        simulated=any(
            is_simulated(condition.run.params, condition.run.tags) for condition in conditions
        ),
        versions=sorted({condition.run.tags.get("plenum.version", "") for condition in conditions}),
        varying=differing,
        fixed=[(n, params[0][n]) for n in kind.factors if n not in differing and params[0].get(n)],
        conditions=[
            {
                "folder": condition.place.partition("/")[2],
                "factors": [condition.run.params.get(name, "") for name in differing],
                "counts": condition.counts.values(),
            }
            for condition in conditions
        ],
        files=[
            (name, said["files"].get(name, _OF_ITS_KIND))
            for name in (*said["files"], *sorted(held - said["files"].keys()))
            if name in held
        ],
        tables=[(name, said["tables"].get(Path(name).stem, "")) for name in tables],
        transcript=_first_transcript(conditions),
        file=re.sub(r"[^\w.-]", "_", chosen.study) + ".zip",
    )


def _first_transcript(conditions: Sequence[ArchivedCondition]) -> str:
    """Return the name of a transcript for the reading example; empty if there is none."""
    for condition in conditions:
        if condition.transcripts:
            return f"{condition.place}/transcripts/{min(condition.transcripts):03d}.jsonl"
    return ""
