"""The archive's README: for somebody who has never seen plenum."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from plenum.archive.gather import Condition
from plenum.reports.settings import Settings
from plenum.tracking import query
from plenum.tracking.labels import WORLD_FACTORS
from plenum.tracking.query import FACTORS

_TABLES = {
    "conditions": "one row a condition: factors, realised n, estimates, warnings",
    "contrasts": "a level of a factor against its reference, all else equal",
    "interactions": "roles by model",
    "pooled": "effects pooled over scenarios",
    "branching": "continuations of one state, by base",
    "fragility": "perturbed conditions by family of wordings",
    "accounting": "what became of every replicate, and what the calls took",
    "accounting_models": "calls by model",
    "failures": "attempts that failed, by reason, and what came of them",
    "manifest": "runs and digests behind each condition",
}


def readme(
    chosen: Settings,
    conditions: Sequence[Condition],
    counts: Mapping[str, int],
    failures: Counter[str],
    tables: Sequence[str],
) -> str:
    """Markdown that says what the archive is, how to read and check it, and what it can't show."""
    world = conditions[0].run.world
    parts = [
        f"# Data of the study {_text(chosen.study)}",
        _subject(world),
        _standing(conditions, counts, failures),
        _conditions(conditions),
        _contents(conditions, tables, world),
        _reading(chosen.study, conditions),
        _checking(chosen.study),
        _limits(chosen, conditions, counts, world),
    ]
    return "\n\n".join(parts) + "\n"


def _subject(world: bool) -> str:
    told = (
        "Agents, most often language models, act together in a world that changes from round to "
        "round. A *condition* fixes everything that can be set. A *replicate* is one run of it."
        if world
        else "Committees, whose seats language models speak for, deliberate on a policy case in "
        "rounds, report a preference over its options each turn, and vote. A *condition* fixes "
        "everything that can be set: case, roles, models, memory, temperature. A *replicate* is "
        "one deliberation of it. How far replicates of one condition part, round by round, is "
        "what the study measures."
    )
    return (
        f"{told}\n\nIt was made with plenum, a laboratory for the stability of committees of "
        "language models. Nothing of plenum is needed to read it: transcripts are JSON lines, "
        "tables CSV and Parquet. `dictionary.csv` says what every column and field means."
    )


def _standing(
    conditions: Sequence[Condition], counts: Mapping[str, int], failures: Counter[str]
) -> str:
    backends = sorted({one.run.params.get("backend", "") for one in conditions})
    lines = [
        f"- {counts['conditions']} conditions; {counts['target']} replicates asked for = "
        f"{counts['completed']} completed + {counts['failed']} failed + {counts['pending']} pending"
    ]
    if failures:
        told = ", ".join(f"{_text(reason)} {n}" for reason, n in sorted(failures.items()))
        lines.append(f"- failed by reason: {told}")
    lines.append(f"- backend: {', '.join(map(_text, backends))}")
    if any(query.simulated_run(one.run.params, one.run.tags) for one in conditions):
        lines.append(
            "- **agents were simulated: these numbers are no evidence about language models**"
        )
    versions = sorted({one.run.tags.get("plenum.version", "") for one in conditions})
    lines.append(f"- run by plenum {', '.join(map(_text, versions))}")
    return "\n".join(lines)


def _conditions(conditions: Sequence[Condition]) -> str:
    params = [one.run.params for one in conditions]
    names = [*FACTORS, *(name for name in WORLD_FACTORS if name not in FACTORS)]
    varying = [n for n in names if len({own.get(n, "") for own in params}) > 1]
    fixed = [(n, params[0][n]) for n in names if n not in varying and params[0].get(n)]
    head = ["folder in `conditions/`", *varying, "target", "completed", "failed", "pending"]
    rows = [
        [
            one.place.partition("/")[2],
            *(_text(one.run.params.get(name, "")) for name in varying),
            *map(str, one.counts.values()),
        ]
        for one in conditions
    ]
    table = [head, ["---"] * len(head), *rows]
    alike = ", ".join(f"{name}={_text(value)}" for name, value in fixed)
    return "\n".join(
        [
            "## Conditions",
            "",
            f"All have {alike}.",
            "",
            *(f"| {' | '.join(line)} |" for line in table),
        ]
    )


def _contents(conditions: Sequence[Condition], tables: Sequence[str], world: bool) -> str:
    files = {
        "runs.json": "params, tags and metrics of the condition's run and of each replicate's",
        "transcripts/NNN.jsonl": "the journal of replicate NNN, byte for byte",
        "ensemble.parquet": "how actions are distributed by replicate and round"
        if world
        else "preferences and confidence by replicate, round and seat",
        "replicates.parquet": "one row a replicate",
        "rounds.parquet": "one row a replicate and round",
        "metrics.parquet": "one row a replicate: its metrics",
        "condition.json": "the condition in full",
        "config.yaml": "the settings as they were composed, without folders and hosts",
        "environment.json": "the environments in which models ran here, by digest",
        "accounts.json": "replicates, calls, attempts, tokens and cost",
    }
    there = {name for one in conditions for name in one.artifacts}
    there |= {"runs.json", "transcripts/NNN.jsonl"}
    lines = [
        *("| `conditions/*/` | what |", "|---|---|"),
        *(f"| `{name}` | {what} |" for name, what in files.items() if name in there),
        *("", "| table | what |", "|---|---|"),
        *(f"| `{name}` | {_TABLES.get(_stem(name), '')} |" for name in tables),
        "",
        "`manifest.json` lists every file with its size and SHA-256. A condition that was stopped "
        "before its estimates has no Parquet files.",
    ]
    return "\n".join(["## What lies where", "", *lines])


def _reading(study: str, conditions: Sequence[Condition]) -> str:
    first = next((one for one in conditions if one.transcripts), None)
    if first is None:
        return "## Reading a transcript\n\nNo replicate has begun: there is none."
    path = f"{first.place}/transcripts/{min(first.transcripts):03d}.jsonl"
    return f"""## Reading a transcript

The first line of a transcript names the condition, the seats and the options; each line after it is
one answer, and the last one says how it ended (`status`, `reason` of a failure, `decision`). `text`
is what a model wrote: treat it as anybody's text. With Python alone:

```python
import json, zipfile

with zipfile.ZipFile("{_file(study)}") as archive:
    for line in archive.read("{path}").splitlines():
        entry = json.loads(line)
        print(entry["kind"], entry.get("round", ""), entry.get("seat", ""), entry.get("text", ""))
```

Every line carries `chain`, a digest over the line and the `chain` of the line before: a changed,
lost or reordered line shows. A transcript without an `end` is of a replicate that is pending."""


def _checking(study: str) -> str:
    file = _file(study)
    return f"""## Checking and importing

With plenum:

```
python scripts/export.py --verify {file}
python scripts/import.py archive={file} study=NEW
```

The check covers every digest, every transcript's chain, and whether the tables of each condition
are those that its transcripts give. Importing brings the runs back into a tracking store, where
`scripts/tables.py`, `figures.py` and `accounting.py` work on them as on the original.

Without plenum: the last 64 characters of the file are the SHA-256 of all bytes before them.

```
head -c -64 {file} | sha256sum; tail -c 64 {file}
```"""


def _limits(
    chosen: Settings, conditions: Sequence[Condition], counts: Mapping[str, int], world: bool
) -> str:
    simulated = any(query.simulated_run(one.run.params, one.run.tags) for one in conditions)
    lines = [
        "- The digests show damage, not forgery: who rewrites the whole file can make them fit."
    ]
    if simulated:
        lines.insert(0, "- Nothing about language models: agents were simulated.")
    if counts["failed"]:
        lines.append(
            "- Estimates are made from completed replicates. What failed may not be like what is "
            "left; `tables/accounting.csv` has the rates."
        )
    if counts["pending"]:
        lines.append(f"- The study isn't over: {counts['pending']} replicates are pending.")
    if not world:
        first, last = chosen.window
        lines.append(
            f"- λ̂ in `tables/` is fitted over rounds {first} to {last}, with the {chosen.interval} "
            f"interval and {chosen.draws:,} draws. It describes these rounds of these committees: "
            "no long-run exponent, and no cause of what differs between conditions beyond the "
            "factor that was set. `warnings` says where it stands on little."
        )
    lines.append(
        "- Prompts and the texts of cases aren't in here. They follow from `config.yaml` and the "
        "version of plenum above, whose repository holds them. When and how fast each call was "
        "made isn't in here either, only sums."
    )
    return "\n".join(["## What it can't show", "", *lines])


def _stem(table: str) -> str:
    return table.rpartition("/")[2].removesuffix(".csv")


def _file(study: str) -> str:
    """A file name to show in a command."""
    return re.sub(r"[^\w.-]", "_", study) + ".zip"


def _text(value: str) -> str:
    """Anybody's text within a line of Markdown."""
    line = "".join(c if c.isprintable() else " " for c in value)
    return re.sub(r"([\\`*\[\]<>|])", r"\\\1", line)
