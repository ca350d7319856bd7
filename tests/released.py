"""A small release in the layout of the authors' repository, written by the tests themselves."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

SEATS = ("Chair", "Welfare", "Rights", "Equity", "Security")
ROUNDS, REPLICATES = 6, 4
CATALOGUE: dict[str, Any] = {
    "repository": "somebody/runs",
    "commit": "0000000",
    "replicates": REPLICATES,
    "branching": "data/raw/branching",
    "folders": {
        "deployed": ["data/raw/chaos_v1"],
        "mixed": ["data/vm/chaos", "data/raw/chaos_v1"],
        "hosted": ["hosted"],
    },
    "studies": {
        "pair": [
            {"in": "deployed", "model": "uniform", "roles": ["on", "off"], "rounds": ROUNDS},
            {"in": "mixed", "model": "mixed", "rounds": ROUNDS},
        ],
        "wordings": [{"in": "hosted", "rounds": ROUNDS}],
    },
}


def run(seed: int, *, roles: bool = True, rounds: int = ROUNDS, **changes: Any) -> dict[str, Any]:
    """A deliberation as the authors serialise it; ``changes`` replace parts of it."""
    draws = np.random.default_rng(seed).dirichlet([2, 2, 2], (rounds, len(SEATS)))
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    turns = [
        {
            **{"round_num": t, "role": seat, "argument": f"ARGUMENT: {seat} in round {t} <b>&"},
            **{"pref": draws[t - 1, s].tolist(), "conf": 60, "tags": ["one", "two"]},
            "usage": usage,
        }
        for t in range(1, rounds + 1)
        for s, seat in enumerate(SEATS)
    ]
    votes = ["ABC"[int(draws[-1, s].argmax())] for s in range(len(SEATS))]
    decision = max("ABC", key=votes.count)
    whole = {
        "scenario_id": "HL-01",
        "condition": {
            **{"temperature": 0.0, "roles_enabled": roles, "n_agents": 5, "k_window": 15},
            "rounds": rounds,
        },
        "turns": turns,
        "ballots": [
            {"agent": seat, "vote": vote, "confidence_0_100": 80}
            for seat, vote in zip(SEATS, votes, strict=True)
        ],
        "final_decision": {"decision": decision},
        "usage_total": {"input_tokens": 100 * len(turns) + 900, "output_tokens": 20 * len(turns)},
    }
    return {**whole, **changes}


def preferences(runs: Iterable[dict[str, Any]]) -> np.ndarray:
    """Preferences of every seat, shape (runs, rounds, seats, options)."""
    flat = np.array([[turn["pref"] for turn in one["turns"]] for one in runs])
    return flat.reshape(len(flat), -1, len(SEATS), 3)


def lines(runs: dict[int, dict[str, Any]]) -> str:
    """A deployed file: one line a run, by replicate."""
    return "".join(
        json.dumps({"replicate": r, "model": "gpt-4.1-mini", "run": one}) + "\n"
        for r, one in runs.items()
    )


def wordings(runs: dict[str, dict[str, Any]]) -> str:
    """A hosted file: one line a wording, by family and name."""
    backend = {
        **{"model_name": "Qwen/Qwen2.5-7B-Instruct", "dtype": "bfloat16", "gpu_name": "NVIDIA L4"},
        **{"torch_version": "2.5.1", "transformers_version": "5.3.0"},
    }
    rows = []
    for name, one in runs.items():
        family, _, label = name.partition("/")
        named = {"variant_id": f"HL-01-{label}", "variant_label": label, "family": family}
        rows.append(json.dumps({**named, "backend": backend, "run": one}))
    return "\n".join(rows)


def answered(split: int, agreed: int) -> str:
    """A branching file: turns whose next answers are of two minds, and turns of one."""
    first, second = [0.6, 0.3, 0.1], [0.3, 0.6, 0.1]
    turns = [
        {
            **{"round_num": 1 + turn // len(SEATS), "role": SEATS[turn % len(SEATS)]},
            **{"orig_pref": first, "sample_prefs": [first, second if turn < split else first]},
        }
        for turn in range(split + agreed)
    ]
    head = {"scenario_id": "HL-01", "temperature": 0.0, "rep_index": 0, "k_samples": 2, "h0": 0.5}
    return json.dumps({**head, "states": turns})


def write(folder: Path) -> dict[str, dict[Any, dict[str, Any]]]:
    """Write the release and its catalogue; the runs by condition.

    Replicate 2 of the condition without roles is missing; the mixed one lies in two folders, once
    in part.
    """
    on = {r: run(r) for r in range(REPLICATES)}
    off = {r: run(10 + r, roles=False) for r in range(REPLICATES) if r != 2}
    mixed = {r: run(20 + r) for r in range(REPLICATES)}
    names = ["canonical/canonical", "surface_rephrasing/r1", "formatting_changes/f1"]
    hosted = {name: run(30 + i) for i, name in enumerate(names)}
    part = dict(list(mixed.items())[:2])
    files = {
        "data/raw/chaos_v1/HL-01__T0.0__N5__rolesTrue__R6.jsonl": lines(on),
        "data/raw/chaos_v1/HL-01__T0.0__N5__rolesFalse__R6.jsonl": lines(off),
        "data/raw/chaos_v1/HL-01__T0.0__N5__rolesTrue__R6__multimodel.jsonl": lines(part),
        "data/vm/chaos/HL-01__T0.0__N5__rolesTrue__R6__multimodel.jsonl": lines(mixed),
        "hosted/HL-01__rolesTrue__N5__R6.jsonl": wordings(hosted),
        "data/raw/branching/HL-01__T0.0__N5__rolesTrue__R6__K30__rep0.json": answered(6, 4),
    }
    for name, text in files.items():
        (folder / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "clone" / name).write_text(text, encoding="utf-8")
    catalogue(folder)
    return {"on": on, "off": off, "mixed": mixed, "hosted": hosted}


def catalogue(folder: Path, **more: Any) -> None:
    """Write the file that says which files make which study."""
    (folder / "catalogue.yaml").write_text(yaml.safe_dump({**CATALOGUE, **more}))


# --- the design: packets, wordings and prompts, in words of our own ---

PROMPTS = '''
import pathlib

pathlib.Path("executed").write_text("it was")

GLOBAL_RULES = """You sit on a board. Costs are $5 a page, {braces} included.

End with: STATE: pref=[pA,pB,pC]; conf=NN; tags=["one","two"]
"""

BALLOT_DEV_RULES = """Vote in JSON.
"""

CLERK_DEV_RULES = """Count in JSON.
"""

ROLE_MANDATES = {
    "Chair": """MANDATE (Chair):
- Lead; spend no $money.""",
    "Welfare": "MANDATE (Welfare)", "Rights": "MANDATE (Rights)",
    "Equity": "MANDATE (Equity)", "Security": "MANDATE (Security)",
}

ROUND_TEMPLATE = """SCENARIO PACKET:
{scenario}

ORDER: {role_order}; arguments of <=60 words, the last {k}, for {{free}}, not $4.

TABLE:
{state_table}

WINDOW of {k}:
{window}

You are {role}. This is Round {round_num} of 20.
{extra_round_instructions}
Write now.
"""

BALLOT_TEMPLATE = """BALLOT TASK:
{state_table}

WINDOW of {k}:
{window}

{{"agent":"{role}","scenario_id":"{scenario_id}","vote":"<A/B/C>","confidence_0_100":NN}}
"""

CLERK_TEMPLATE = """CLERK TASK for {scenario_id}:
{ballots}
{state_table}
{window} ({k})
{{"decision": "<A/B/C>", "vote": {{"A": 0, "B": 0, "C": 0}}}}
"""

DEFAULT_STATE = {"pref": (0.33, 0.33, 0.34), "conf": 50, "tags": ("init", "init")}


def run_ws_committee(rounds):
    for rr in range(rounds):
        extra = ""
        if rr == rounds:
            extra = "Last round: pay $2 and conclude."
        user = ROUND_TEMPLATE + extra
    ballot_prompt = clerk_prompt = ""
    retry_prompt = ballot_prompt + "\\n\\nAGAIN: one line of JSON."
    retry_prompt = clerk_prompt + "\\n\\nAGAIN: one object."
'''
PACKET = (
    "SCENARIO_ID: HL-01\nInstitution: The Board\nConstraint: 20 beds.\nOptions:\n"
    "A) Build: at once.\nB) Rent $5 rooms.\nC) Wait {long}.\nPrinciple vote: What now?\n"
    "Cases:\ncase1) A village without a road.\nDiscrete endpoint: Choose A/B/C."
)
DESIGN = {
    "prompts": "src/prompts.py",
    "scenarios": "src/packets.json",
    "registers": "src/registers.json",
    "variants": ["hosted/variants.json"],
}


def design(folder: Path, prompts: str = PROMPTS, packets: dict[str, str] | None = None) -> None:
    """Write the design's files into the release, and name them in its catalogue.

    Parameters
    ----------
    packets
        Texts by scenario; the first has wordings.
    """
    packets = packets or {"HL-01": PACKET, "ZZ-09": PACKET.replace("HL-01", "ZZ-09")}
    first, text = next(iter(packets.items()))
    families = ["surface_rephrasing"] * 2 + ["formatting_changes"]
    others = [
        {"variant_id": f"{first}-w{n}", "label": f"W {n}", "family": family, "text": f"{n} {text}"}
        for n, family in enumerate(families, start=1)
    ]
    whole = {"variant_id": f"{first}-c", "label": "whole", "family": "canonical", "text": text}
    registers = [
        {"variant_id": f"{first}-v0", "label": "original", "text": text},
        {"variant_id": f"{first}-v1", "label": "plain_words", "text": f"Plainly. {text}"},
    ]
    cases = [
        {"scenario_id": name, "domain": "health", "endpoint_type": "choice_ABC", "text": each}
        for name, each in packets.items()
    ]
    files = {
        "src/prompts.py": prompts,
        "src/packets.json": json.dumps({"scenarios": cases}),
        "src/registers.json": json.dumps({"base_scenario_id": first, "variants": registers}),
        "hosted/variants.json": json.dumps(
            {"variant_sets": [{"scenario_id": first, "variants": [whole, *others]}]}
        ),
    }
    for name, content in files.items():
        (folder / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "clone" / name).write_text(content, encoding="utf-8")
    (folder / "clone/data/raw/chaos_v1").mkdir(parents=True, exist_ok=True)
    catalogue(folder, design=DESIGN)
