"""The report on protocols: sentences, a table, a picture, ``steady.json`` and ``steady.html``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from plenum.base.text import flatten
from plenum.reports.publication import print_written
from plenum.show.document import Block, Document, Grid, Section, split_blocks
from plenum.show.formats import format_decimals, format_percent
from plenum.show.phrases import render
from plenum.show.renderer import render_html
from plenum.show.table import Column, Table
from plenum.show.terminal_tables import show_sentences, show_tables
from plenum_verdicts.logs.protocol_logs import ProtocolLog
from plenum_verdicts.reports.outputs import REHEARSAL, make_folder, write_texts
from plenum_verdicts.reports.steady_figure import draw_steadiness
from plenum_verdicts.steadiness.judged_protocols import JudgedProtocol, SteadyVerdict
from plenum_verdicts.steadiness.steady_tests import LEVEL, SteadyTest

_WORDS = "plenum_verdicts.reports/steady.j2"
_SHARES = {
    "stability": "differ over wordings", "floor": "over reruns", "curve": "votes, equal cost",
    "quality": "right", "stable_right": "stable right", "stable_wrong": "stable wrong",
    "unstable": "unstable",
}  # fmt: skip


@dataclass(frozen=True)
class PlanCheck:
    """The comparison of runs with the plan that was made for them.

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
    # Simulated agents show nothing of a protocol, so that nothing of them is called steadier.
    claim = "ahead in a rehearsal" if log.simulated else "steadier at kept quality"
    sentences = [flatten(each) for each in render(_WORDS, "sentences", found=found, log=log,
                 claim=claim, plan=plan, share=format_percent, p=_format_p,
                 level=LEVEL)]  # fmt: skip
    if log.simulated:
        sentences.insert(0, f"The runs are simulated: {REHEARSAL}.")
    table = tabulate_steadiness(found, claim)
    if out is None:
        show_sentences(sentences)
        show_tables([table])
        return
    with make_folder(out):
        picture = draw_steadiness(found, out, ("png", "svg"))
        parts: dict[str, Block] = {"protocols": Grid(1, table), "steadiness": picture}
        blocks = split_blocks("plenum_verdicts.reports/steady.md.j2", parts, sentences=sentences)
        page = Document(
            title=f"Protocols against {found.reference.name}",
            lead=sentences[0],
            notice=REHEARSAL if log.simulated else "",
            sections=(Section(1, "verdict", "Verdict", tuple(blocks)),),
        )
        text = json.dumps(_describe(found, log, plan), indent=2, allow_nan=False, default=_tell)
        texts = {"steady.json": f"{text}\n", "steady.html": render_html(page)}
        written = write_texts(texts.items(), out)
    show_sentences(sentences)
    show_tables([table])
    print_written([*written, *picture.files])


def tabulate_steadiness(found: SteadyVerdict, claim: str) -> Table:
    """Return a line for each protocol, the reference first and the controls last."""
    frame = pd.DataFrame([_tell(each) for each in found.shown])
    frame["verdict"] = frame["verdict"].replace("steadier", claim)
    frame.loc[0, ["verdict", "these", "like"]] = ["reference", None, None]  # it isn't judged
    columns = (
        Column("name", "protocol", key=True),
        Column("verdict"),
        *(Column(name, label, format=format_percent) for name, label in _SHARES.items()),
        Column("cost", "cost of a run", format=format_decimals(3)),
        Column("these", "p, these cases", format=_format_p),
        Column("like", "p, like these", format=_format_p),
    )
    return Table("steady", f"Protocols against {found.reference.name}", frame, columns)


def _format_p(p: float) -> str:
    return "-" if pd.isna(p) else "< .001" if p < 0.001 else f"{p:.3f}"


def _describe(found: SteadyVerdict, log: ProtocolLog, plan: PlanCheck | None) -> Mapping[str, Any]:
    return {
        **vars(found),
        **{name: value for name, value in vars(log).items() if name != "runs"},
        "quality_to_keep": found.sensitive,
        "plan": plan and plan.digest,
        "fixed_beforehand": bool(plan and not plan.differs),
        "status": found.status,
    }


def _tell(each: JudgedProtocol | SteadyTest) -> Mapping[str, Any]:
    if isinstance(each, SteadyTest):
        told = {"these_above": each.limit(False), "like_above": each.limit(True)}
        return {"value": each.value, **told}
    return {**vars(each), "verdict": each.verdict, "cases_needed": each.cases_needed}
