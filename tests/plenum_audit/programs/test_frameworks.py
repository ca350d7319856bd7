"""The example teams, each with its real framework in its environment, over the real proxy.

``sh scripts/frameworks.sh`` makes the environments.
"""

import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from program_runs import Audit, audit_of

from plenum.records.transcript import Transcript

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENTS = ROOT / ".frameworks"
PANEL = dict.fromkeys(("personnel", "team_lead", "treasurer"), 2)
SPOKEN = {
    "langgraph": PANEL,
    "openai_agents": {**PANEL, "chair": 1},
    "autogen": PANEL,
    "agent_framework": PANEL,
    "crewai": PANEL,
}
"""How often each seat of an example speaks."""


def audit_with(framework: str, folder: Path, target: str = "") -> Audit:
    """The audit of a framework's example, or of another file, in the framework's environment."""
    python = ENVIRONMENTS / framework / "bin/python"
    if not (ENVIRONMENTS / framework / "versions.txt").exists():
        pytest.skip(f"no environment of {framework}: sh scripts/frameworks.sh {framework}")
    target = target or f"{ROOT}/examples/hiring_{framework}.py"
    return audit_of(folder, target=f"{target}:committee", python=str(python))


def entries(run: Transcript, kind: str) -> list[dict[str, object]]:
    """Those of a kind."""
    return [entry for entry in run.entries if entry["kind"] == kind]


def spoken(run: Transcript, kind: str) -> Counter[object]:
    """How many entries of a kind each seat has."""
    return Counter(entry["seat"] for entry in entries(run, kind))


def content(run: Transcript) -> list[tuple[str, ...]]:
    """All that was called, said and decided, in no order."""
    fields = ("kind", "seat", "round", "text", "preferences", "decision")
    said = (entry for entry in run.entries if entry["kind"] != "reopen")  # a kill leaves a mark
    return sorted(tuple(str(entry.get(field)) for field in fields) for entry in said)


@pytest.mark.parametrize("framework", SPOKEN)
def test_the_team_of_a_framework_is_run_over_the_proxy(framework: str, tmp_path: Path) -> None:
    audit = audit_with(framework, tmp_path)
    assert list(audit.program.knobs["rounds"]) == [2, 1, 3]
    for run in audit.run(2):
        assert run.end is not None
        assert (run.status, run.end.get("problems")) == ("completed", None)
        assert run.decision in ("A", "B", "C")
        for kind in ("call", "say"):
            assert spoken(run, kind) == SPOKEN[framework]
            rounds = Counter(entry["round"] for entry in entries(run, kind))
            assert rounds == Counter(
                n + 1 for most in SPOKEN[framework].values() for n in range(most)
            )


def test_branches_of_a_graph_are_answered_from_the_journal_of_a_killed_run(tmp_path: Path) -> None:
    audit = audit_with("langgraph", tmp_path)
    (whole,) = audit.run()
    preferences = [entry["preferences"] for entry in entries(whole, "say")]
    assert all(abs(sum(p.values()) - 1) < 1e-6 for p in preferences)
    lines = audit.journal(0).read_text().splitlines(keepends=True)
    begun = lines[:6]
    paid = sum('"kind":"call"' in line for line in begun)
    assert 2 <= paid <= 5
    audit.journal(0).write_text("".join(begun))
    (resumed,) = audit.run()
    assert content(resumed) == content(whole)
    assert audit.journal(0).read_text().startswith("".join(begun))
    answered = (audit.folder / "calls.jsonl").read_text().count('"answered":true')
    assert answered == 6 + 6 - paid


def test_messages_of_a_graph_are_reported_by_node_in_a_fixed_order(tmp_path: Path) -> None:
    (tmp_path / "team.py").write_text("""
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from plenum_adapters.langgraph import LangGraph

def build(case, run):
    model = ChatOpenAI(model="gpt-4o-mini", base_url=run.base_url, api_key=run.token)
    async def speak(state):
        return {"messages": [await model.ainvoke(state["messages"])]}
    within, graph = StateGraph(MessagesState), StateGraph(MessagesState)
    within.add_node("inner", speak)
    within.add_edge(START, "inner")
    for name, node in (("zoe", speak), ("abe", speak), ("sub", within.compile())):
        graph.add_node(name, node)
    graph.add_edge(START, "zoe")
    graph.add_edge(START, "abe")
    graph.add_edge(["zoe", "abe"], "sub")
    return graph.compile()

committee = LangGraph(build, decide=lambda case, state: state["messages"][-1].text)
""")
    (run,) = audit_with("langgraph", tmp_path, str(tmp_path / "team.py")).run()
    messages = [(entry["round"], entry["seat"]) for entry in entries(run, "say")]
    assert messages == [(1, "abe"), (1, "zoe"), (1, "inner")]
    assert len(entries(run, "call")) == 3


def test_agents_that_hand_over_are_reported_by_name(tmp_path: Path) -> None:
    (tmp_path / "team.py").write_text("""
from agents import Agent
from plenum_adapters import question
from plenum_adapters.openai_agents import OpenAIAgents

expert = Agent(name="expert", instructions="You know. End with `VOTE: <label>`.", model="m")
clerk = Agent(name="clerk", instructions="Call transfer_to_expert.", handoffs=[expert], model="m")

async def play(case, run, speak):
    return (await speak(clerk, question(case), max_turns=5)).final_output[-1]

committee = OpenAIAgents(play)
""")
    (run,) = audit_with("openai_agents", tmp_path, str(tmp_path / "team.py")).run()
    assert [(entry["round"], entry["seat"]) for entry in entries(run, "say")] == [(1, "expert")]
    assert len(entries(run, "call")) == 2
    assert run.decision in ("A", "B", "C")


def test_a_plain_function_takes_knobs(tmp_path: Path) -> None:
    audit = audit_of(tmp_path, target=f"{ROOT}/examples/hiring.py:committee")
    assert audit.program.knobs == {"rounds": [2, 1, 3], "memory": [6, 3]}
    (run,) = audit.run(rounds=1)
    assert spoken(run, "call") == spoken(run, "say") == dict.fromkeys(PANEL, 1)
    assert run.decision in ("A", "B", "C")


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_a_command_in_another_language_is_a_committee(tmp_path: Path) -> None:
    (run,) = audit_of(
        tmp_path, command=f"node {shlex.quote(str(ROOT))}/examples/hiring.mjs {{case}}"
    ).run()
    assert spoken(run, "call") == spoken(run, "say") == PANEL
    assert run.decision in ("A", "B", "C")


def test_an_endpoint_is_a_committee(tmp_path: Path) -> None:
    body = {"text": "{text}", "options": "{options}", "url": "{base_url}", "key": "{token}"}
    command = [sys.executable, "-u", f"{ROOT}/examples/hiring_server.py", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = next(line.split()[-2] for line in server.stdout if "http://" in line)
            runs = audit_of(tmp_path, http=f"{url}/hire", body=body, path="decision").run(2)
        finally:
            server.terminate()
    for run in runs:
        assert spoken(run, "call") == PANEL
        assert run.decision in ("A", "B", "C")
