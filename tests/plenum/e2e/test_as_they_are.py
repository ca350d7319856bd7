"""Models and providers as people have them, over real sockets: what is read, and what is paid."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from command_line import KEY, Run, runs
from hydra import compose, initialize_config_dir
from openai_server import Server
from proof import prove
from support.fault_server import FaultSettings, serve_in_thread

from plenum.base.errors import UserError
from plenum.records.transcript import read_transcript
from plenum.reports.explorer.replicates import CommitteeTalk
from plenum.tracking.server import post

pytestmark = pytest.mark.slow
Body = dict[str, Any]
ROOT = Path(__file__).resolve().parents[3]
CALLS = 2 * (2 * 2 + 1)
"""Two replicates of a round of two seats: turns, ballots and a clerk's count."""
LINE = 'STATE: pref=[0.20,0.30,0.50]; conf=70; tags=["fair_process","cost_control"]'
TRIAL = 2
"""Its ballot and its count on trial."""
BROKEN = 3
THOUGHT = "They want a line. I secretly lean to A."


def bend(write: Callable[[str], str]) -> Callable[[Body], None]:
    def bent(body: Body) -> None:
        message = body["choices"][0]["message"]
        message["content"] = write(message["content"])

    return bent


def set_message(**fields: Callable[[str], Any]) -> Callable[[Body], None]:
    def changed(body: Body) -> None:
        message = body["choices"][0]["message"]
        message |= {key: value(message["content"]) for key, value in fields.items()}

    return changed


def set_body(**fields: Any) -> Callable[[Body], None]:
    return lambda body: body.update(fields)


def call_tool(text: str) -> list[Body]:
    return [{"function": {"name": "answer", "arguments": json.dumps({"text": text})}}]


MODELS: dict[str, Callable[[Body], object]] = {
    "plain": lambda body: None,
    "think": bend(lambda text: f"<think>\n{THOUGHT}\n</think>\n{text}"),
    "stray": bend(lambda text: f"{THOUGHT}\n</think>\n{text}"),
    "draft": bend(lambda text: f"<think>{LINE}\n{{\"decision\": \"A\"}}</think>{text}"),
    "harmony": bend(
        lambda text: f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{text}<|return|>"
    ),
    "field": set_message(reasoning_content=lambda _: THOUGHT),
    "reasoned": set_message(reasoning=lambda text: text, content=lambda _: None),
    "parts": set_message(
        content=lambda text: [
            {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
            {"type": "text", "text": text},
        ]
    ),
    "tool": set_message(tool_calls=call_tool, content=lambda _: None),
    "bold": bend(lambda text: text.replace("STATE:", "**STATE:**").replace('{"', '**{"')),
    "fenced": bend(lambda text: f"Here it is:\n```JSON\n{text}\n```"),
    "usagenull": set_body(usage=None),
    "usagetext": set_body(usage={"prompt_tokens": "1000", "completion_tokens": 100.0}),
    "nousage": lambda body: body.pop("usage"),
    "router": set_body(provider="HostA"),
}  # fmt: skip
VOTELESS: dict[str, Callable[[Body], object]] = {
    "novote": bend(lambda text: "I abstain." if "decision" in text else text),
    "nocount": bend(lambda text: "It is clear." if "majority" in text else text),
}
"""Models whose turns are read, and whose ballots or counts aren't."""
SPOILT: dict[str, Callable[[Body], object]] = {
    "inside": lambda body: body.update(error={"code": 502, "message": "HostX failed"}, choices=[]),
    "choice": lambda body: body["choices"][0].update(
        finish_reason="error", error={"code": 502}, message={"content": ""}
    ),
    "empty": set_message(content=lambda _: ""),
}
"""Answers that are none."""


def stream(body: Body, pieces: int = 7) -> str:
    """A completion as server-sent events, with its usage in the last."""
    head = {key: value for key, value in body.items() if key not in ("choices", "usage")}
    (choice,) = body["choices"]
    sent: list[Body] = [{"delta": {"role": "assistant", "content": ""}, "index": 0}]
    for name, text in choice["message"].items():
        if isinstance(text, str) and name != "role":
            parts = [text[at : at + pieces] for at in range(0, len(text), pieces)]
            sent += [{"delta": {name: part}, "index": 0} for part in parts]
    sent += [{"delta": {}, "finish_reason": choice["finish_reason"]}]
    events = [{**head, "choices": [each]} for each in sent]
    events += [{**head, "choices": [], "usage": body["usage"]}] if body.get("usage") else []
    lines = [": kept alive", *(f"data: {json.dumps(event)}" for event in events), "data: [DONE]"]
    return "\n\n".join(lines) + "\n\n"


class OddServer(Server):
    """Answers by the simulated agent, in the way that the model's name says.

    A request for a stream gets one, of which the first three break off.
    """

    broken = 0
    hosts: list[str] = []  # noqa: RUF012

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        answered = await super().handle(request)
        assert isinstance(answered, web.Response)
        if answered.status != 200:  # by the script
            return answered
        body, asked = json.loads(answered.body), await request.json()  # type: ignore[arg-type]
        model = asked["model"]
        if model == "only" and not asked.get("stream"):
            error = {"message": "Stream must be set to true"}
            return web.json_response({"error": error}, status=400)
        (MODELS | SPOILT | VOTELESS | {"only": id, "whole": id})[model](body)
        body |= {"provider": self.hosts.pop(0)} if self.hosts else {}
        if not asked.get("stream") or model == "whole":
            return web.json_response(body)
        text = stream(body)
        if self.broken < BROKEN:
            self.broken += 1
            text = text[: text.index("finish_reason") - 40].rpartition("\n\n")[0] + "\n\n"
        return web.Response(text=text, content_type="text/event-stream")


@pytest.fixture
def odd() -> Iterator[Server]:
    with serve_in_thread(FaultSettings(port=0), OddServer) as running:
        running.server.running = running  # type: ignore[attr-defined]
        yield running.server  # type: ignore[misc]


def ask(run: Run, server: Server, *models: str, status: int = 0, **more: str) -> str:
    listed = ",".join(f"hosted_vllm/{model}" for model in models)
    return run(
        *("-m", "backend=api", f"backend.api_base.hosted_vllm={server.url}"),
        *(f"model.default={listed}", "model.name=x", "roles.agents=2", "rounds=1"),
        *("replicates=2", "calls.backoff_s=0.01", "tracking=none"),
        *(f"{key}={value}" for key, value in more.items()),
        OPENAI_API_KEY=KEY,
        status=status,
    ).stderr


def read_journals(folder: Path) -> dict[str, list[Body]]:
    """The entries of all replicates, by model."""
    found: dict[str, list[Body]] = {}
    for journal in sorted(folder.glob("mlruns/journals/*/*.jsonl")):
        if journal.stem.isdecimal():
            head, *entries = map(json.loads, journal.read_text().splitlines())
            found.setdefault(head["clerk"].rpartition("/")[2], []).extend(entries)
    return found


def test_an_answer_that_came_whole_is_read_and_paid_for_once(
    odd: Server, run: Run, tmp_path: Path
) -> None:
    told = ask(run, odd, *MODELS)
    asked = Counter(request["body"]["model"] for request in odd.requests)
    assert asked == dict.fromkeys(MODELS, CALLS + TRIAL)
    found = read_journals(tmp_path)
    for model, entries in found.items():
        ends = [entry for entry in entries if entry["kind"] == "end"]
        assert [end["status"] for end in ends] == ["completed"] * 2, model
        assert not [entry for entry in entries if "problem" in entry]
    # what was thought is kept, and reaches no other seat
    for model in ("think", "stray", "harmony", "field", "parts"):
        said = [entry for entry in found[model] if entry["kind"] != "end"]
        assert [entry.get("reasoning") for entry in said] == [THOUGHT] * CALLS, model
    prompts = [json.dumps(request["body"]["messages"]) for request in odd.requests]
    assert not [prompt for prompt in prompts if "secretly" in prompt]
    assert not [prompt for prompt in prompts if "</think>" in prompt]
    # the explorer has it beside the turn, folded
    heard = {}
    for path in tmp_path.glob("mlruns/journals/*/000.jsonl"):
        transcript = read_transcript(path)
        heard[transcript.head["clerk"].rpartition("/")[2]] = transcript
    for model, thoughts in (("think", [THOUGHT]), ("plain", [])):
        talk = CommitteeTalk()
        talk.add(0, heard[model])
        shown = talk.as_block()
        said = [[shown["texts"][n] for n in turn[7:]] for turn in shown["replicates"][0]]
        assert said == [thoughts] * 2
    turns = [entry for entry in found["reasoned"] if entry["kind"] == "turn"]
    assert all(entry["reasoned"] and "reasoning" not in entry for entry in turns)
    plain = {entry["argument"] for entry in found["plain"] if entry["kind"] == "turn"}
    fenced = {entry["argument"] for entry in found["fenced"] if entry["kind"] == "turn"}
    assert not [argument for argument in (*plain, *fenced) if "```" in argument]
    # each is said once
    lines = told.splitlines()
    assert sum("hosted_vllm/think thinks aloud" in line for line in lines) == 1
    assert sum("hosted_vllm/bold" in line and "had one meaning" in line for line in lines) == 1
    assert sum("nousage" in line and "counted here" in line for line in lines) == 1


def test_a_model_that_cannot_vote_stops_the_sweep_at_its_first_turns(
    odd: Server, run: Run, tmp_path: Path
) -> None:
    for _ in range(2):  # nothing that the first sweep left lets the second one go on
        asked = len(odd.requests)
        told = ask(run, odd, "novote", status=1, rounds="6", replicates="6")
        assert "0 failed + 6 pending" in told
        assert len(odd.requests) - asked <= 20  # four votes with their repairs, and some turns
        (line,) = (line for line in told.splitlines() if line.startswith("stopped: "))
        assert "I abstain." in line
        assert "protocol.answers=constrained" in line
        assert f"{len(odd.requests) - asked} calls made now" in told
    # one seat of one round votes next: there is nothing to save
    asked = len(odd.requests)
    ask(run, odd, "plain", **{"roles.agents": "1"})
    assert len(odd.requests) - asked == 2 * (1 + 1 + 1)
    # of a count the tally takes the place, unless the clerk decides
    told = ask(run, odd, "nocount", rounds="2")
    assert sum("nobody can read it" in line for line in told.splitlines()) == 1
    decides = {"protocol.decision": "clerk", "rounds": "3"}
    told = ask(run, odd, "nocount", status=1, **decides)
    assert "0 failed + 2 pending" in told
    assert "It is clear." in told


def test_a_stream_is_read_to_its_end_and_asked_for_again_where_it_breaks_off(
    odd: Server, run: Run, tmp_path: Path
) -> None:
    streamed = ("plain", "think", "field", "nousage")
    told = ask(run, odd, *streamed, **{"backend.stream": "true", "+backend.extra.num_ctx": "8192"})
    assert "4 conditions: 8 replicates = 8 completed" in told
    assert len(odd.requests) == len(streamed) * (CALLS + TRIAL) + BROKEN == 51
    sent = odd.requests[0]["body"]
    assert (sent["stream"], sent["num_ctx"]) == (True, 8192)
    first = read_journals(tmp_path)
    ask(run, odd, *streamed)
    found = read_journals(tmp_path)  # of both
    for model in streamed:
        once, twice = (
            Counter((e["text"], e["tokens_in"], e.get("reasoning")) for e in each if "text" in e)
            for each in (first[model], found[model])
        )
        assert twice == once + once, model


@pytest.mark.parametrize("transport", ["lean", "litellm"])
def test_further_fields_and_the_name_of_the_limit_reach_the_server(
    transport: str, odd: Server, run: Run
) -> None:
    extra = "{reasoning_effort:low,provider:{order:[HostA,HostB]},unsent:null}"
    given = {"calls.transport": transport, "+backend.extra": extra}
    ask(run, odd, "plain", **given, **{"backend.max_tokens_field": "max_completion_tokens"})
    for request in odd.requests:
        body = request["body"]
        assert body["reasoning_effort"] == "low"
        assert body["provider"] == {"order": ["HostA", "HostB"]}
        assert body["max_completion_tokens"] == 400
        assert not {"max_tokens", "unsent", "stream"} & body.keys()


def test_a_budget_of_tokens_stops_at_a_server_that_does_not_count(odd: Server, run: Run) -> None:
    told = ask(run, odd, "nousage", status=1, **{"budget.tokens": "1000000"})
    assert "says no numbers of tokens" in told
    assert len(odd.requests) <= 2


def test_a_condition_that_was_begun_strictly_goes_on_so_and_pays_nothing_twice(
    odd: Server, run: Run, tmp_path: Path
) -> None:
    # a study of 0.2.0: one replicate of an identity without a reading
    ask(run, odd, "plain", **{"protocol.reading": "strict", "replicates": "1"})
    (before,) = {path.parent.name for path in tmp_path.glob("mlruns/journals/*/000.jsonl")}
    first = len(odd.requests)
    assert first == CALLS // 2 + TRIAL
    told = ask(run, odd, "plain")
    (after,) = {path.parent.name for path in tmp_path.glob("mlruns/journals/*/001.jsonl")}
    assert after == before
    assert len(odd.requests) == CALLS + TRIAL  # its ballots were read before
    assert sum("protocol.reading=strict" in line for line in told.splitlines()) == 1
    # where no journal is, reading is lenient
    ask(run, odd, "bold")
    assert {path.parent.name for path in tmp_path.glob("mlruns/journals/*/000.jsonl")} > {before}
    assert len(odd.requests) == 2 * (CALLS + TRIAL)


@pytest.mark.parametrize("transport", ["lean", "litellm"])
@pytest.mark.parametrize(
    ("step", "times", "said"),
    [
        ({"status": 500, "message": "CUDA error"}, 99, "answered none of the last"),
        ({"status": 502, "message": "bad gateway"}, 99, "answered none of the last"),
        ({"raw": "<!doctype html>Sign in", "content_type": "text/html"}, 99, "answered none"),
        ({"status": 503, "message": "Loading model"}, 99, "isn't ready within calls.patience=2 s"),
        ({"status": 503, "message": "Loading model"}, 7, ""),
    ],
    ids=["500", "502", "html", "loads", "loaded"],
)
def test_a_dead_server_stops_the_sweep_and_one_that_starts_is_waited_for(
    step: Body, times: int, said: str, transport: str, server: Server, run: Run
) -> None:
    server.script = [step] * times
    given = {"calls.transport": transport, "calls.max_attempts": "2"}
    given["calls.patience"] = "2" if said else "60"
    told = ask(run, server, "m", status=int(bool(said)), **given)
    lines = [line for line in told.splitlines() if line.startswith("stopped: ")]
    assert len(lines) == bool(said)
    assert said in "".join(lines)
    assert f"{0 if said else 2} completed + 0 failed + {2 if said else 0} pending" in told
    assert len(server.requests) <= (12 if said else times + CALLS + TRIAL)


@pytest.mark.parametrize("transport", ["lean", "litellm"])
def test_every_reply_says_who_gave_it_and_tables_tell_replicates_apart_by_it(
    transport: str, odd: Server, run: Run, tmp_path: Path
) -> None:
    odd.hosts = ["HostA"] * (CALLS + TRIAL) + ["HostB"] * CALLS  # type: ignore[attr-defined]
    given = {"calls.transport": transport, "calls.max_concurrency": "1", "replicates": "4"}
    days = {f"{datetime.now(UTC):%Y-%m-%d}"}
    ask(run, odd, "plain", tracking="local", **given)
    (log,) = tmp_path.glob("mlruns/journals/*/calls.jsonl")
    answers = [line for line in map(json.loads, log.read_text().splitlines()) if line["answered"]]
    entries = [entry for entry in read_journals(tmp_path)["plain"] if "text" in entry]
    for replies in (answers, entries):
        assert Counter(each["host"] for each in replies) == {"HostA": CALLS, "HostB": CALLS}
        assert {each["answered_by"] for each in replies} == {"plain"}
        assert {each["fingerprint"] for each in replies} == {"fp_1"}
    assert {each["day"] for each in entries} <= days | {f"{datetime.now(UTC):%Y-%m-%d}"}
    (condition,) = runs(tmp_path, "default", "condition")
    tag = condition.data.tags["plenum.host"]
    assert json.loads(tag) == {"HostA": CALLS + TRIAL, "HostB": CALLS}  # with its trial
    assert (
        "Blocks: replicates of the same"
        in run("study=default", "table=all", script="scripts/tables.py").stdout
    )
    (line,) = csv.DictReader((tmp_path / "outputs/default/blocks.csv").open())
    assert (line["source"], line["blocks"], line["n"]) == ("host", "2", "4")
    split = run("study=default", "split=host", script="scripts/tables.py").stdout
    for words in ("two conditions of two replicates", "host=HostA", "host=HostB", "by_host"):
        assert words in split
    frame = (tmp_path / "outputs/default/by_host/decision_contrasts.csv").read_text()
    assert "host=HostB - host=HostA" in frame.replace("agents=2 ", "")
    none = run("study=default", "split=answered_by", script="scripts/tables.py").stdout
    assert "answered_by=plain" in none


def test_a_refused_request_is_told_what_helps(odd: Server, run: Run) -> None:
    for words, helps in {
        "This model's maximum context length is 1600 tokens": "protocol.window or sampling.max_tok",
        "'temperature' does not support 0 with this model": "sampling.temperature=1",
        "Use 'max_completion_tokens' instead": "backend.max_tokens_field=max_completion_tokens",
        "Stream must be set to true": "backend.stream=true",
    }.items():
        odd.script = [{"status": 400, "message": words}] * 2
        told = ask(run, odd, "plain", seed=str(len(odd.requests)), status=1)
        assert helps in told
        assert "retry_failed=true" not in told


def test_a_proxy_whose_tracking_server_is_down_asks_for_no_login(server: Server) -> None:
    server.script = [{"status": 502}, {"status": 401}]
    with pytest.raises(UserError, match=r"no MLflow server answers at .*502"):
        post(server.url, "experiments/search", {})
    with pytest.raises(UserError, match=r"answers 401 .*MLFLOW_TRACKING_USERNAME"):
        post(server.url, "experiments/search", {})


PROVED = {
    "plain": ("free", "envelope", "text 5"),
    "only": ("in pieces", "envelope", "text in pieces 1"),
    "whole": ("in pieces", "envelope", "text 1"),
    "parts": ("constrained", "envelope", "parts 5"),
    "tool": ("free", "envelope", "the call of a tool 5"),
    "reasoned": ("free", "reasoning", "is the answer 5"),
    "field": ("free", "reasoning", "before the answer 5"),
    "bold": ("free", "answers", "ballot 2 of 2"),
    "usagetext": ("free", "tokens", "not as whole numbers 5"),
    "usagenull": ("free", "tokens", "not said 5"),
    "router": ("free", "host", "HostA 5"),
    "inside": ("free", "envelope", "an error with status 200 2"),
    "choice": ("free", "envelope", "an error as its choice 2"),
    "empty": ("free", "envelope", "empty 2"),
}
"""What a proof says of each dialect: the round, the check, and a line of the cell."""


class Replay(Server):
    """Answers each request as a recording says."""

    recorded: list[Body]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        asked = await request.json()
        self.requests.append(asked)
        at = next(n for n, each in enumerate(self.recorded) if each["request"] == asked)
        was = self.recorded.pop(at)
        return web.Response(text=was["body"], status=was["status"], content_type=was["type"])


def prove_model(url: str, model: str, folder: Path) -> Body:
    """The recording of a proof."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        cfg = compose(
            "probe",
            [
                *(f"model.default=hosted_vllm/{model}", f"backend.api_base.hosted_vllm={url}"),
                *("model.name=x", f"out={folder}", "calls.backoff_s=0.01", "prove=true"),
            ],
        )
    prove(cfg)
    (file,) = folder.glob("*/recording.json")
    recording: Body = json.loads(file.read_text())
    return recording


def test_a_proof_tells_dialects_apart_and_its_recording_can_be_played_again(
    odd: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    odd.broken = BROKEN  # type: ignore[attr-defined]
    tables, asked = {}, 0
    for model, (name, check, line) in PROVED.items():
        recording = prove_model(odd.url, model, tmp_path / model)
        made, asked = len(odd.requests) - asked, len(odd.requests)
        assert made == sum(map(len, recording["exchanges"].values())) <= 15
        tables[model] = recording["table"]
        assert line in tables[model][name][check].splitlines(), model
        assert KEY not in json.dumps(recording)
        assert odd.url not in json.dumps(recording)
        with serve_in_thread(FaultSettings(port=0), Replay) as replay:
            replay.server.recorded = [*chain(*recording["exchanges"].values())]  # type: ignore
            again = prove_model(replay.url, model, tmp_path / f"{model}-again")
        assert again["table"] == recording["table"], model
    told = {json.dumps({**table, "name": ""}).replace(f"{m} ", "") for m, table in tables.items()}
    assert len(told) == len(PROVED) >= 8


ERRORS: dict[str, tuple[int, Body, str]] = {
    "s402": (402, {"message": "Insufficient Balance"}, "stopped"),
    "credit": (400, {"message": "Your credit balance is too low to access the API"}, "stopped"),
    "quota": (429, {"message": "quota", "code": "insufficient_quota"}, "stopped"),
    "inside402": (200, {"message": "Insufficient credits", "code": 402}, "stopped"),
    "inside429": (200, {"code": 429, "message": "error", "metadata": {"raw": "slow down"}}, "429"),
    "inside502": (200, {"code": 502, "message": "upstream failed"}, "502"),
}


@pytest.mark.parametrize("transport", ["lean", "litellm"])
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_what_it_says(
    name: str, transport: str, server: Server, run: Run, tmp_path: Path
) -> None:
    status, error, _ = ERRORS[name]
    body = json.dumps({"error": error})
    step = {"raw": body} if status == 200 else {"status": status, **error}
    server.script = [step] * 40
    given = {"calls.transport": transport, "calls.max_attempts": "2", "calls.backoff_max_s": "0.1"}
    told = ask(run, server, "m", status=1, **given)
    if ERRORS[name][2] == "stopped":
        assert "the account's quota is used up" in told
        assert len(server.requests) <= 2
        assert "the same command continues" in told
    else:
        log = "".join(file.read_text() for file in tmp_path.glob("mlruns/journals/*/calls.jsonl"))
        outcomes = {json.loads(line)["outcome"] for line in log.splitlines()}
        assert outcomes - {"sent"} == {"rate_limit" if name == "inside429" else "server"}
        if transport == "lean":  # LiteLLM drops the words of whom a router asked
            assert error.get("metadata", {}).get("raw", error["message"]) in log
