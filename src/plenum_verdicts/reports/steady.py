"""The report on protocols: sentences, a table, a picture, ``steady.json`` and ``steady.html``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from plenum.base import flatten
from plenum.reports import (
    Block,
    Column,
    Document,
    Grid,
    Section,
    Table,
    print_written,
    render,
    render_html,
    show,
    show_sentences,
    split_blocks,
)
from plenum_verdicts.logs import ProtocolLog
from plenum_verdicts.reports.outputs import REHEARSAL, make_folder, write_texts
from plenum_verdicts.reports.steady_figure import draw_steadiness
from plenum_verdicts.steadiness import LEVEL, JudgedProtocol, SteadyTest, SteadyVerdict

_WORDS = "plenum_verdicts.reports/steady.j2"
_TOLD = (
    "name", "verdict", "stability", "floor", "curve", "quality", "cost", "stable_right",
    "stable_wrong", "unstable", "these", "like", "failed", "cases_needed",
)  # fmt: skip


@dataclass(frozen=True)
class PlanCheck:
    """What a plan says of the runs.

    Attributes
    ----------
    digest
        The plan's digest.
    differs
        What isn't as planned, in words.
    """

    digest: str
    differs: tuple[str, ...]


def publish_steadiness(
    found: SteadyVerdict, log: ProtocolLog, out: Path | None, plan: PlanCheck | None = None
) -> None:
    """Print the verdicts on protocols, and write them to a folder.

    Parameters
    ----------
    out
        The folder; nothing is written without one.

    Raises
    ------
    UserError
        The folder can't be written to.
    """
    sentences = [flatten(each) for each in render(_WORDS, "sentences", found=found, log=log,
                 plan=plan, share=_share, level=LEVEL)]  # fmt: skip
    if log.simulated:
        sentences.insert(0, f"The runs are simulated: {REHEARSAL}.")
    table = tabulate_steadiness(found)
    show_sentences(sentences)
    show([table])
    if out is None:
        return
    with make_folder(out):
        picture = draw_steadiness(found, out, ("png", "svg"))
        parts: dict[str, Block] = {"protocols": Grid(1, table), "steadiness": picture}
        blocks = split_blocks("plenum_verdicts.reports/steady.md.j2", parts, sentences=sentences)
        page = Document(
            title="Steadier at kept quality",
            lead=sentences[0],
            notice=REHEARSAL if log.simulated else "",
            sections=(Section(1, "verdict", "Verdict", tuple(blocks)),),
        )
        text = json.dumps(_describe(found, log, plan), indent=2, allow_nan=False)
        written = write_texts(
            [("steady.json", f"{text}\n"), ("steady.html", render_html(page))], out
        )
    print_written([*written, *picture.files])


def tabulate_steadiness(found: SteadyVerdict) -> Table:
    """Return a line for each protocol, the reference first and the controls last."""
    shown = [found.reference, *found.protocols, *found.controls]
    frame = pd.DataFrame([{name: getattr(each, name) for name in _TOLD} for each in shown])
    frame.loc[0, ["verdict", "these", "like"]] = ["reference", None, None]  # it isn't judged
    frame["verdict"] = frame["verdict"].replace("steadier", "steadier at kept quality")
    shares = {
        "stability": "differ over wordings", "floor": "over reruns", "curve": "votes, equal cost",
        "quality": "right", "stable_right": "stable right", "stable_wrong": "stable wrong",
        "unstable": "unstable",
    }  # fmt: skip
    columns = (
        Column("name", "protocol", key=True),
        Column("verdict"),
        *(Column(name, label, format=_share) for name, label in shares.items()),
        Column("cost", "cost of a run", format=_number),
        Column("these", "p, these cases", format=_number),
        Column("like", "p, like these", format=_number),
    )
    return Table("steady", f"Protocols against {found.reference.name}", frame, columns)


def _share(value: float | None) -> str:
    return "-" if value is None or pd.isna(value) else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None or pd.isna(value) else f"{value:.3f}"


def _describe(found: SteadyVerdict, log: ProtocolLog, plan: PlanCheck | None) -> Mapping[str, Any]:
    return {
        "reference": _describe_protocol(found.reference),
        "protocols": [_describe_protocol(each) for each in found.protocols],
        "controls": [_describe_protocol(each) for each in found.controls],
        "lead": _describe_test(found.lead),
        "quality_to_keep": found.sensitive,
        "constant": {"answer": found.constant, "right": found.constant_quality},
        "curve": [
            {"cost": size, "disagreement": apart if apart == apart else None, "right": right}
            for size, apart, right in found.curve
        ],
        "margin": found.margin,
        "cases": found.cases,
        "cases_left_out": log.left_out,
        "cases_unknown": log.unknown,
        "perturbed": log.perturbed,
        "days": log.days,
        "runs_thinned": log.thinned,
        "simulated": log.simulated,
        "plan": plan and plan.digest,
        "fixed_beforehand": bool(plan and not plan.differs),
        "status": found.status,
    }


def _describe_protocol(each: JudgedProtocol) -> Mapping[str, Any]:
    tests = {"gain": each.gain, "kept": each.kept}
    return (
        {name: getattr(each, name) for name in _TOLD}
        | {"reasons": each.reasons}
        | {name: test and _describe_test(test) for name, test in tests.items()}
    )


def _describe_test(test: SteadyTest) -> Mapping[str, float]:
    return {"value": test.value, "these_above": test.limit(False), "like_above": test.limit(True)}
