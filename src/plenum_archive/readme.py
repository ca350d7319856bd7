"""The archive's README, written for a reader who doesn't know plenum.

Its text is in readme.md.j2, and the parts that differ by kind in the blocks of readme_KIND.md.j2.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from plenum.design.factors import list_varying
from plenum.reports.settings import Settings
from plenum.show.markdown import load_template
from plenum.tracking.conditions import is_simulated
from plenum_archive.gather import ArchivedCondition

_TABLES = {
    "conditions": "one row a condition: factors, realised n, estimates, warnings",
    "decision_contrasts": "disagreement of a level of a factor against its reference",
    "share_contrasts": "shares of every decision against the reference",
    "contrasts": "a level of a factor against its reference, all else equal",
    "interactions": "roles by model",
    "pooled": "effects pooled over scenarios",
    "branching": "continuations of one state, by base",
    "fragility": "perturbed conditions by family of wordings",
    "accounting": "what became of every replicate, and what the calls took",
    "accounting_models": "calls by model",
    "accounting_servers": "calls by condition and server, where several answered",
    "failures": "attempts that failed, by reason, and what came of them",
    "manifest": "runs and digests behind each condition",
}

_FILES = {
    "runs.json": "params, tags and metrics of the condition's run and of each replicate's",
    "transcripts/NNN.jsonl": "the journal of replicate NNN, byte for byte",
    "ensemble.parquet": "",
    "replicates.parquet": "one row a replicate",
    "rounds.parquet": "one row a replicate and round",
    "metrics.parquet": "one row a replicate: its metrics",
    "condition.json": "the condition in full",
    "config.yaml": "the settings as they were composed, without folders and hosts",
    "environment.json": "the environments in which models ran here, by digest",
    "accounts.json": "replicates, calls, attempts, tokens and cost",
}
"""Descriptions of files. The template of each kind describes the one that is empty here."""


def readme(
    chosen: Settings,
    conditions: Sequence[ArchivedCondition],
    counts: Mapping[str, int],
    failures: Counter[str],
    tables: Sequence[str],
) -> str:
    """Return Markdown on what the archive is, how to read and check it, and what it can't show."""
    kind = conditions[0].run.kind
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
            (name, _FILES.get(name, "a table of this kind of study, explained by its package"))
            for name in (*_FILES, *sorted(held - _FILES.keys()))
            if name in held
        ],
        tables=[(name, _TABLES.get(Path(name).stem, "")) for name in tables],
        transcript=_first_transcript(conditions),
        file=re.sub(r"[^\w.-]", "_", chosen.study) + ".zip",
    )


def _first_transcript(conditions: Sequence[ArchivedCondition]) -> str:
    """Return the name of a transcript for the reading example; empty if there is none."""
    for condition in conditions:
        if condition.transcripts:
            return f"{condition.place}/transcripts/{min(condition.transcripts):03d}.jsonl"
    return ""
