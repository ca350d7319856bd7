"""The released prompts as a set of prompts: preamble, mandates and frame.

The form of lines, such as ``[Round 03 | Chair]``, is part of the released code and repeated here;
every sentence is read from the clone.
"""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from plenum.base.errors import UserError
from plenum.committee.frame import PLENUM, Frame
from plenum.committee.frame_files import FRAME_TEMPLATES, list_template_problems
from plenum_papers.published import sources
from plenum_papers.published.catalogue import Release
from plenum_papers.published.sources import PythonFile, escape

_RUN = "run_ws_committee"
_KNOWN = {"state_table": "table", "window": "window", "k": "k"}
_TURN = {
    **_KNOWN,
    "scenario": "packet",
    "role_order": "order",
    "role": "label",
    "round_num": "round",
    "extra_round_instructions": "last",
}
_BALLOT = {**_KNOWN, "role": "label", "scenario_id": "scenario"}
_CLERK = {**_KNOWN, "scenario_id": "scenario", "ballots": "ballots"}
_STATE = 'pref=[{pref}] conf={conf} tags=["{first}","{second}"]'


def files(release: Release) -> Iterator[tuple[str, str]]:
    """Yield the files of the set of prompts, with their names.

    Raises
    ------
    UserError
        The released file can't be read, or lacks a text.
    """
    path = Path(release.rules["design"]["prompts"])
    source = sources.read(release, path)
    rules = source.text("GLOBAL_RULES")
    preamble = escape(rules.strip())
    before, after = escape(rules).split(preamble)
    yield "preamble.txt", f"{preamble}\n"
    yield "preamble_alone.txt", f"{preamble}\n"
    for name, text in source.texts("ROLE_MANDATES").items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,39}", name) or text != text.strip():
            raise UserError(f"published: {path}: ROLE_MANDATES: {name!r}: bad name or outer blanks")
        yield f"mandates/{name.lower()}.txt", f"{text}\n"
    texts = dataclasses.asdict(_frame(source, f"{before}$preamble{after}"))
    for template in FRAME_TEMPLATES:
        for problem in list_template_problems(template, texts[template]):
            raise UserError(f"published: {path}: {template}: {problem}")
        yield f"frame/{template}.txt", f"{texts[template]}\n"


def _frame(source: PythonFile, system: str) -> Frame:
    """Return the released frame, with plenum's own repair texts, since none was released.

    The mandate is part of the task, not of the rules.
    """
    ballot = "${mandate}" + source.template("BALLOT_TEMPLATE", _BALLOT)
    state = _STATE.format(pref="$pref", conf="$conf", first="$first_tag", second="$second_tag")
    return Frame(
        system=system,
        turn="${mandate}" + source.template("ROUND_TEMPLATE", _TURN),
        ballot_system=escape(source.text("BALLOT_DEV_RULES")),
        ballot=ballot,
        ballot_alone=ballot,
        clerk_system=escape(source.text("CLERK_DEV_RULES")),
        clerk=source.template("CLERK_TEMPLATE", _CLERK),
        mandate="$mandate\n\n",
        remark="[Round ${round02} | $label] $argument",
        nothing="(empty)",
        withheld="",
        row=f"- $label: {state}",
        blank=f"- $label: {_first_state(source)}",
        last=escape(source.find_assigned_text(_RUN, "extra")),
        round_line="",
        repair=PLENUM.repair,
        repair_ballot=escape(source.find_added_text(_RUN, "ballot_prompt").strip()),
        repair_clerk=escape(source.find_added_text(_RUN, "clerk_prompt").strip()),
    )


def _first_state(source: PythonFile) -> str:
    """Return the table's entry for a seat that hasn't spoken."""
    state = source.constant("DEFAULT_STATE")
    try:
        first, second = map(str, state["tags"])
        pref = ",".join(f"{share:.2f}" for share in state["pref"])
        text = _STATE.format(pref=pref, conf=int(state["conf"]), first=first, second=second)
    except (KeyError, TypeError, ValueError):
        raise UserError(f"published: {source.path}: DEFAULT_STATE can't be read") from None
    return escape(text)
