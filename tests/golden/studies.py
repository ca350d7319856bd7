"""The small studies: what is run, and which commands read it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A script and its arguments.

    Attributes
    ----------
    status
        The exit status that it ends with.
    printed
        How what it prints is compared: ``text``, ``digest`` (of long prompts), or ``nothing``
        (where it holds times, or stands in another file too).
    """

    arguments: tuple[str, ...]
    status: int = 0
    printed: str = "text"


@dataclass(frozen=True)
class Case:
    """Commands that are run one after the other, and the MLflow experiments that they fill.

    Experiments after the first that hold the same conditions are written as differences from it.
    """

    name: str
    experiments: tuple[str, ...]
    commands: tuple[Command, ...]


def _call(line: str, status: int = 0, printed: str = "text") -> Command:
    return Command(tuple(line.split()), status, printed)


def _read(study: str, *more: str) -> tuple[Command, ...]:
    """What reads a study: its accounts, its report with all figures, its archive."""
    return (
        _call(f"scripts/accounting.py study={study}", printed="nothing"),
        _call(f"scripts/report.py study={study} {' '.join(more)}"),
        _call(f"scripts/export.py study={study}"),
    )


def _world(name: str, *settings: str) -> Case:
    sweep = (
        f"run.py -m +experiment=world task={name} rounds=6 replicates=4 consensus=implicit,explicit"
    )
    condition = f"scripts/prompt.py study={name} condition=$0 format=json"
    return Case(
        name,
        (name,),
        (
            _call(f"{sweep} {' '.join(settings)}"),
            *_read(name),
            _call(f"{condition} round=2 seat=$seat", printed="digest"),
        ),
    )


_FIRST = "run.py -m roles=on,off model=uniform,mixed"
_TWO_BY_TWO = f"{_FIRST} scenario=HL-01"
_FAULTS = (
    "run.py -m study=faults scenario=HL-01 roles=on,off replicates=6 rounds=4 calls.max_attempts=2"
    " backend.malformed_rate=0.12 backend.timeout_rate=0.05 backend.refusal_rate=0.01"
)
_WORDED = "backend=simulated scenario=HL-01,IM-01 replicates=13"
_HOSTED = (
    "run.py -m study=hosted scenario=HL-01 backend=hosted backend.threads=1 memory=k3 roles=on"
    " rounds=1 replicates=2 perturbation=variants20 sampling.max_tokens=160"
)

CASES = (
    Case(
        "committee",
        ("default", "imported"),
        (
            _call(f"{_TWO_BY_TWO} dry_run=true replicates=7 rounds=7"),
            _call(f"{_TWO_BY_TWO} replicates=7 rounds=7"),
            *_read("default"),
            _call("scripts/tables.py study=default interval=percentile out=outputs/percentile"),
            _call("scripts/tables.py study=default table=s1,published"),
            _call("scripts/tables.py study=default table=s8", status=2),
            _call("scripts/plan.py study=default delta=0.1"),
            _call("scripts/explore.py study=default"),
            _call(
                "scripts/prompt.py study=default condition=$0 round=2 seat=Chair format=json",
                printed="digest",
            ),
            _call(
                "scripts/prompt.py study=default condition=$1 call=ballot seat=Chair",
                printed="digest",
            ),
            _call("scripts/export.py --verify outputs/default/default.zip"),
            _call("scripts/import.py archive=outputs/default/default.zip study=imported"),
            _call("scripts/tables.py study=imported", printed="nothing"),
        ),
    ),
    Case("faults", ("faults",), (_call(_FAULTS, status=1), *_read("faults"))),
    Case(
        "wordings",
        ("hosted_benchmark", "hosted_one_shot"),
        (
            _call(f"run.py -m +experiment=hosted_benchmark {_WORDED} rounds=3"),
            _call(f"run.py -m +experiment=hosted_one_shot {_WORDED}"),
            _call("scripts/accounting.py study=hosted_one_shot", printed="nothing"),
            _call("scripts/tables.py study=hosted_benchmark baseline=hosted_one_shot"),
            *_read("hosted_benchmark", "baseline=hosted_one_shot"),
        ),
    ),
    Case(
        "branches",
        ("branching",),
        (
            _call(
                "run.py -m +experiment=branching rounds=7 replicates=3 branch.after_round=null,3"
                " branch.bases=2 branch.continuations=4"
            ),
            *_read("branching"),
        ),
    ),
    Case(
        "grid",
        ("grid",),
        (
            _call(
                "run.py -m study=grid scenario=HL-01,IM-01 memory=k15,k3 temperature=t0,t0.7"
                " replicates=4 rounds=6"
            ),
            *_read("grid"),
            _call("scripts/tables.py study=grid table=papers"),
        ),
    ),
    Case(
        "hosted",
        ("hosted",),
        (_call(_HOSTED), *_read("hosted")),
    ),
    Case("first", ("first",), (_call(f"{_FIRST} study=first replicates=7 rounds=7"),)),
    _world("disaster", "diversity=low,high", "volatility=moderate"),
    _world("misinformation", "diversity=medium", "volatility=low,high"),
    _world("public_goods", "diversity=medium", "volatility=low,high"),
)
