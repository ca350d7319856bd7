"""What the explorer's page of worlds holds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from explorer_worlds import PlayedWorlds

from plenum.calls.conversation import Ask
from plenum.design.job import Job
from plenum.records import episodes
from plenum.records.transcript import read_transcript
from plenum_worlds.stage import stage_run
from plenum_worlds.tracking import average_episodes

pytestmark = pytest.mark.slow

TASKS = ("disaster", "misinformation", "public_goods")


@pytest.fixture
def played(tmp_path: Path) -> PlayedWorlds:
    return PlayedWorlds(tmp_path)


@pytest.mark.parametrize("private", [(), ("sight=0.5", "acts=hidden", "reports=private")])
@pytest.mark.parametrize("task", TASKS)
def test_what_agents_knew_is_what_their_prompts_said(
    played: PlayedWorlds, job: Callable[..., Job], task: str, private: tuple[str, ...]
) -> None:
    known: dict[tuple[int, str], str] = {}
    told: dict[tuple[int, str], str] = {}

    def answer(ask: Ask) -> str:
        prompt = ask.chat.messages[1].content
        told[ask.round, ask.seat] = prompt.partition("\n## What is known")[0]
        part = prompt.partition("## What is known\n")[2]
        known[ask.round, ask.seat] = part.partition("\n## ")[0].strip()
        return "nothing readable"

    given = [f"task.information.{each}" for each in private]
    one = job(f"task={task}", "rounds=3", "task.agents=3", *given).condition
    played.condition(one, 1, answer)
    transcript = read_transcript(played.kept["run0"][0].path)
    stage = stage_run(transcript.head, episodes.list_played_rounds(transcript))
    names = [seat["seat"] for seat in transcript.head["seats"]]
    for number, views in enumerate(stage["views"], start=1):
        for agent, name in enumerate(names):
            assert views[agent if len(views) > 1 else 0] == known[number, name]
    talk = played.data()["talk-0"]
    for number, entry in enumerate(talk["runs"][0]["rounds"], start=1):
        for at, _ in entry["report"]:
            shown = talk["texts"][at] + "(123)" * (not private)
            text, _, reached = shown.rpartition("(")
            readers = [n for n in names if n.split()[1] in reached]
            assert readers == [n for n in names if f"- {text.strip()}" in told[number, n]]


def test_a_map_shows_the_true_severity_who_went_where_and_what_was_left(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    played.condition(job("task=disaster", "rounds=4", "volatility=high").condition, 1)
    run = played.data()["talk-0"]["runs"][0]
    entries = episodes.list_played_rounds(read_transcript(played.kept["run0"][0].path))
    assert run["ground"] == {"grid": 10}
    for entry, picture in zip(entries, run["rounds"], strict=True):
        marks = {tuple(mark["at"]): mark for mark in picture["marks"]}
        for disaster in entry["state"]["disasters"]:
            mark = marks[tuple(disaster["cell"])]
            attended = disaster["id"] in entry["facts"]["attended"]
            assert mark["tone"] == ("good" if attended else "bad")
            assert mark["text"].startswith(str(disaster["severity"]))
        placed = [unit for mark in picture["marks"] for unit in mark["units"]]
        went = [unit for unit, cell in enumerate(entry["actions"], 1) if cell is not None]
        assert sorted(placed) == went


def test_a_network_shows_states_suspicions_and_checks(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    played.condition(job("task=misinformation", "rounds=4").condition, 1)
    run = played.data()["talk-0"]["runs"][0]
    entries = episodes.list_played_rounds(read_transcript(played.kept["run0"][0].path))
    places = run["ground"]["nodes"]
    assert len(places) == 50
    assert all(0 <= axis <= 1 for place in places for axis in place)
    assert len({tuple(place) for place in places}) == 50
    assert run["ground"]["edges"] == entries[0]["state"]["edges"]
    for entry, picture in zip(entries, run["rounds"], strict=True):
        bad = {mark["at"][0] for mark in picture["marks"] if mark["tone"] == "bad"}
        assert bad == {n for n, letter in enumerate(entry["state"]["status"]) if letter == "M"}
        checked = {mark["at"][0] for mark in picture["marks"] if mark.get("units")}
        assert sorted(checked) == entry["facts"]["checked"]
        dashed = {mark["at"][0] for mark in picture["marks"] if mark.get("dashed")}
        assert dashed == {n for n, since in enumerate(entry["state"]["suspected"]) if since}


def test_bars_show_the_pool_its_threshold_payments_and_balances(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    given = ("task=public_goods", "rounds=4", "consensus=explicit")
    played.condition(job(*given).condition, 1)
    run = played.data()["talk-0"]["runs"][0]
    entries = episodes.list_played_rounds(read_transcript(played.kept["run0"][0].path))
    balances = [0.0] * 5
    for entry, picture in zip(entries, run["rounds"], strict=True):
        by_panel: dict[int, list[float]] = {0: [], 1: [], 2: []}
        for mark in picture["marks"]:
            by_panel[mark["at"][0]].append(mark["value"])
        balances = [b + p for b, p in zip(balances, entry["facts"]["payoffs"], strict=True)]
        assert by_panel[0] == [entry["facts"]["total"]]
        assert by_panel[1] == entry["actions"]
        assert by_panel[2] == pytest.approx(balances)
        assert picture["lines"][0]["value"] == entry["state"]["threshold"]
        for mark in picture["marks"]:
            _, low, high = run["ground"]["panels"][mark["at"][0]]
            assert low <= mark["value"] <= high


def test_answers_keep_words_reasons_repairs_and_abstentions(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    def answer(ask: Ask) -> str:
        if ask.seat == "Drone 1":
            return "no idea"
        if ask.seat == "Drone 2" and not ask.kind.endswith("_repair"):
            return "wait"
        return json.dumps({"action": [1, 2], "message": "go", "analysis": "near"})

    played.condition(job("task=disaster", "task.agents=3", "rounds=1").condition, 1, answer)
    talk = played.data()["talk-0"]
    texts, answers = talk["texts"], talk["runs"][0]["answers"]
    for round_, agent, step, action, words, reasons, flags in answers:
        assert round_ == 1
        assert texts[step] in ("message", "action")
        expected = {
            0: ("nothing", "no idea", "", 5),
            1: ("[1,2]", "go", "near", 1),
            2: ("[1,2]", "go", "near", 0),
        }[agent]
        assert (texts[action], texts[words], texts[reasons], flags) == expected
    assert [texts[a] for a in talk["runs"][0]["rounds"][0]["actions"]] == [
        *("nothing", "[1,2]", "[1,2]"),
    ]


def test_conditions_share_a_world_by_everything_but_who_acts(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    def world(*overrides: str) -> Any:
        played.condition(job("task=disaster", "rounds=1", *overrides).condition, 1)
        return played.data()["index"]["conditions"][-1]["world"]

    first = world()
    assert world("consensus=explicit", "diversity=high") == first
    assert world("task.policy=random") == first
    assert len({first, world("seed=1"), world("volatility=high"), world("task.agents=3")}) == 4


def test_most_keeps_the_first_runs_and_failed_ones(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    one = job("task=public_goods", "rounds=2", "task.agents=2").condition
    condition = played.condition(one, 5, lost={4: 2})
    data = played.data(most=2)
    assert sorted(data["talk-0"]["runs"]) == [0, 1, 4]
    listed = data["figures-0"]["replicates"]
    assert [run["shown"] for run in listed] == [True, True, False, False, True]
    assert (listed[4]["status"], listed[4]["reason"]) == ("failed", "timeout")
    entry = data["index"]["conditions"][0]
    assert (entry["n"], entry["failed"], entry["symbol"]) == (4, 1, "provision rate")
    assert entry["lambda"] == pytest.approx(average_episodes(condition, "provision_rate").mean())


def test_a_world_of_other_settings_is_listed_and_read_without_a_picture(
    played: PlayedWorlds, job: Callable[..., Job]
) -> None:
    played.condition(job("task=disaster", "rounds=2").condition, 1)
    transcript = read_transcript(played.kept["run0"][0].path)
    head = {**transcript.head, "numbers": {"of_another_version": 1}}
    assert stage_run(head, episodes.list_played_rounds(transcript)) == {
        "scene": None,
        "views": [[], []],
    }
