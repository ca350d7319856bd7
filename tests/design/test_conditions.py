"""From real composed configs to conditions: what is built, and what is refused in one line."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import yaml
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.design import condition as conditions
from plenum.design.compose import parse_job
from plenum.design.condition import Condition, Job, StatedPrice

ROOT = Path(__file__).resolve().parents[2]
SEATS = ["Chair", "Welfare", "Rights", "Equity", "Security"]
ROLES = ["on", "off", *(f"ablate_{seat.lower()}" for seat in SEATS)]
EVERY = {path.stem: path for path in (ROOT / "conf" / "experiment").glob("*.yaml")}
WORLDS = {name: path for name, path in EVERY.items() if name.startswith(("world", "policies_"))}
EXPERIMENTS = {name: path for name, path in EVERY.items() if name not in WORLDS}

Make = Callable[..., Condition]


def sweep(path: Path) -> dict[str, list[str]]:
    """What an experiment sweeps over: the values of every swept key."""
    params = yaml.safe_load(path.read_text())["hydra"]["sweeper"]["params"]
    return {key: str(values).split(",") for key, values in params.items()}


SWEPT = {
    f"{key}={value}"
    for path in EXPERIMENTS.values()
    for key, values in sweep(path).items()
    for value in values
}


# --- what is built -----------------------------------------------------------------------------


def test_the_default_condition_is_the_papers_baseline(condition: Make) -> None:
    assert condition().factors == {
        "scenario": "HL-01",
        "roles": "on",
        "model": "uniform",
        "memory": "k15",
        "temperature": "t0",
        "backend": "simulated",
        "perturbation": "none",
        "protocol": "deliberation",
        "settings": "default",
        "rounds": 20,
        "seed": 0,
    }


def test_the_default_condition_seats_the_papers_committee(condition: Make) -> None:
    assert [seat.name for seat in condition().seats] == SEATS
    assert {seat.model for seat in condition().seats} == {"gpt-4.1-mini"}


def test_twenty_rounds_of_five_seats_cost_106_calls(condition: Make) -> None:
    assert condition().calls == 106


def test_a_job_takes_the_number_of_replicates_from_the_config(job: Callable[..., Job]) -> None:
    assert job("replicates=7").replicates == 7


def test_a_job_keeps_its_composed_config(job: Callable[..., Job]) -> None:
    kept = yaml.safe_load(job("roles=off", "rounds=7").config)
    assert (kept["roles"]["name"], kept["rounds"]) == ("off", 7)


@pytest.mark.parametrize("roles", ROLES)
def test_a_roles_option_carries_its_own_name_as_text(condition: Make, roles: str) -> None:
    assert condition(f"roles={roles}").roles == roles


def test_with_roles_on_every_seat_argues_from_its_mandate(condition: Make) -> None:
    texts = {seat.name: seat.mandate for seat in condition("roles=on").seats}
    folder = ROOT / "conf" / "prompts" / "mandates"
    assert texts == {s: (folder / f"{s.lower()}.txt").read_text().strip() for s in SEATS}


def test_with_roles_off_no_seat_has_a_mandate(condition: Make) -> None:
    assert [seat.mandate for seat in condition("roles=off").seats] == [""] * 5


def test_with_roles_off_the_labels_are_neutral(condition: Make) -> None:
    labels = [seat.label for seat in condition("roles=off").seats]
    assert labels == [f"Member {number}" for number in range(1, 6)]


@pytest.mark.parametrize("seat", SEATS)
def test_an_ablation_takes_out_one_mandate_and_nothing_else(condition: Make, seat: str) -> None:
    whole, ablated = condition().seats, condition(f"roles=ablate_{seat.lower()}").seats
    emptied = [a.name for w, a in zip(whole, ablated, strict=True) if a.mandate != w.mandate]
    assert emptied == [seat]
    assert [a.mandate for a in ablated if a.name == seat] == [""]
    assert [a.label for a in ablated] == SEATS


def test_the_mixed_line_up_holds_one_grok_and_five_models(condition: Make) -> None:
    models = [seat.model for seat in condition("model=mixed").seats]
    assert len(set(models)) == 5
    assert sum("grok" in model for model in models) == 1


def test_a_seat_of_ones_own_needs_no_code(condition: Make) -> None:
    own = condition("+roles.seats.Scribe=welfare")
    assert [seat.name for seat in own.seats] == [*SEATS, "Scribe"]
    assert own.seats[5].mandate == own.seats[1].mandate
    assert own.calls == 6 * 21 + 1


def test_a_model_for_one_seat_can_be_set_directly(condition: Make) -> None:
    models = {s.name: s.model for s in condition("+model.seats.Chair=xai/grok-3").seats}
    assert models == dict.fromkeys(SEATS, "gpt-4.1-mini") | {"Chair": "xai/grok-3"}


def test_each_distinct_model_is_listed_once(condition: Make) -> None:
    assert condition().models == ("gpt-4.1-mini",)
    assert len(condition("model=mixed").models) == 5


@pytest.mark.parametrize(
    ("option", "value"),
    [("memory=k3", "protocol.window=3"), ("temperature=t0.7", "sampling.temperature=0.7")],
)
def test_an_option_is_a_name_for_a_value(condition: Make, option: str, value: str) -> None:
    assert condition(option).identity == condition(value).identity


@pytest.mark.parametrize("name", ["t0", "t1e-5", "t1e-4", "t0.01", "t0.05", "t0.1", "t0.2", "t0.7"])
def test_a_temperature_is_labelled_as_its_option_is_named(condition: Make, name: str) -> None:
    assert condition(f"temperature={name}").factors["temperature"] == name


@pytest.mark.parametrize(
    ("value", "label"),
    [(0.0, "t0"), (1.0, "t1"), (1.5, "t1.5"), (0.001, "t0.001"), (2.5e-6, "t2.5e-6")],
)
def test_any_temperature_has_a_label(value: float, label: str) -> None:
    assert conditions.temperature_label(value) == label


def test_what_a_journal_says_of_a_condition_names_the_seats_in_speaking_order(
    condition: Make,
) -> None:
    told = condition().as_mapping()
    assert [s["seat"] for s in told["seats"]] == [s.name for s in condition().speaking_order]


# --- what is refused ---------------------------------------------------------------------------

REFUSED = {
    "unknown role": (["roles.seats.Chair=judge"], "roles.seats.Chair", "chair, equity, rights"),
    "role of no text": (["roles.seats.Chair=null"], "roles.seats", ""),
    "no seats": (["roles.seats=null"], "roles.seats", ""),
    "odd seat name": (["+roles.seats._x=chair"], "roles.seats", "letters"),
    "negative temperature": (["sampling.temperature=-0.1"], "sampling.temperature", "0 or more"),
    "temperature nan": (["sampling.temperature=nan"], "sampling.temperature", "0 or more"),
    "temperature inf": (["sampling.temperature=inf"], "sampling.temperature", "0 or more"),
    "temperature in words": (["sampling.temperature=warm"], "sampling.temperature", "warm"),
    "no tokens": (["sampling.max_tokens=0"], "sampling.max_tokens", "1 or more"),
    "window of none": (["protocol.window=0"], "protocol.window", "1 or more"),
    "negative window": (["protocol.window=-3"], "protocol.window", "1 or more"),
    "half a window": (["protocol.window=2.5"], "protocol.window", "2.5"),
    "no words": (["protocol.argument_words=0"], "protocol.argument_words", "1 or more"),
    "no model at all": (["model.default=null"], "model.seats.Chair", "model.default"),
    "a seat without a model": (
        ["model=mixed", "model.seats.Rights=null"],
        "model.seats.Rights",
        "model.default",
    ),
    "a clerk without a model": (["model=mixed", "model.clerk=null"], "model.clerk", "clerk"),
    "a model for nobody": (["+model.seats.Nobody=gpt-4.1"], "model.seats.Nobody", "Chair, Welfare"),
    "no rounds": (["rounds=0"], "rounds", "1 or more"),
    "rounds in words": (["rounds=many"], "rounds", "many"),
    "no replicates": (["replicates=0"], "replicates", "1 or more"),
    "negative seed": (["seed=-1"], "seed", "0 or more"),
    "study with a slash": (["study=a/b"], "study", "letters"),
    "study without a name": (["study=''"], "study", "letters"),
    "study left open": (["study='???'"], "study", ""),
    "unknown backend": (["backend.name=oracle"], "backend.name", "simulated, api"),
    "unknown knob": (["+backend.volume=3"], "volume", ""),
    "knob in words": (["backend.gain=loud"], "backend.gain", "loud"),
    "negative gain": (["backend.gain=-1"], "backend.gain", "0 or more"),
    "noise above one": (["backend.noise=1.5"], "backend.noise", "0 to 1"),
    "negative rate": (["backend.timeout_rate=-0.1"], "backend.timeout_rate", "0 to 1"),
    "rate nan": (["backend.refusal_rate=nan"], "backend.refusal_rate", "0 to 1"),
    "no attempts": (["calls.max_attempts=0"], "calls.max_attempts", "1 or more"),
    "no concurrency": (["calls.max_concurrency=0"], "calls.max_concurrency", "1 or more"),
    "no time": (["calls.timeout_s=0"], "calls.timeout_s", "above 0"),
    "negative backoff": (["calls.backoff_s=-1"], "calls.backoff_s", "0 or more"),
    "negative longest backoff": (["calls.backoff_max_s=-1"], "calls.backoff_max_s", "0 or more"),
    "no concurrency at first": (["calls.start_concurrency=0"], "calls.start_concurrency", "1 or"),
    "adapting in words": (["calls.adapt=maybe"], "calls.adapt", "maybe"),
    "no requests": (["calls.rpm.openai=0"], "calls.rpm.openai", "1 or more"),
    "half a request": (["calls.rpm.openai=1.5"], "calls.rpm.openai", "1.5"),
    "requests of nobody": (["calls.rpm=7"], "calls.rpm", "int"),
    "negative tokens a minute": (["+calls.tpm.mine=-1"], "calls.tpm.mine", "1 or more"),
    "tokens in words": (["calls.tpm.xai=many"], "calls.tpm.xai", "many"),
    "no idle time": (["calls.idle_timeout_s=0"], "calls.idle_timeout_s", "above 0"),
    "idle nan": (["calls.idle_timeout_s=nan"], "calls.idle_timeout_s", "nan"),
    "endless time": (["calls.timeout_s=inf"], "calls.timeout_s", "inf"),
    "unknown transport": (["calls.transport=pigeon"], "calls.transport", "lean, litellm"),
    "negative dollars": (["budget.dollars=-1"], "budget.dollars", "-1"),
    "dollars nan": (["budget.dollars=nan"], "budget.dollars", "0 or more"),
    "dollars inf": (["budget.dollars=inf"], "budget.dollars", "0 or more"),
    "dollars in words": (["budget.dollars=much"], "budget.dollars", "much"),
    "negative tokens": (["budget.tokens=-5"], "budget.tokens", "0 or more"),
    "half a token": (["budget.tokens=1.5"], "budget.tokens", "1.5"),
    "negative calls": (["budget.calls=-1"], "budget.calls", "0 or more"),
    "another currency": (["+budget.euros=3"], "budget.euros", ""),
    "negative price": (["+prices={m:{input:-1,output:2}}"], "prices.m.input", "0 or more"),
    "price nan": (["+prices={m:{input:1,output:nan}}"], "prices.m.output", "0 or more"),
    "negative cached": (["+prices={m:{input:1,output:2,cached:-1}}"], "prices.m.cached", "-1"),
    "half a price": (["+prices={m:{input:1}}"], "output", "issing"),
    "price in words": (["+prices={m:{input:dear,output:2}}"], "prices.m.input", "dear"),
    "a price too many": (["+prices={m:{input:1,output:2,more:3}}"], "prices.m.more", ""),
    "branch before the first round": (["branch.after_round=0"], "branch.after_round", "1 to 19"),
    "branch after the last round": (["branch.after_round=20"], "branch.after_round", "1 to 19"),
    "no bases": (["branch.after_round=5", "branch.bases=0"], "branch.bases", "1 or more"),
    "one branch": (
        ["branch.after_round=5", "branch.continuations=1"],
        "branch.continuations",
        "2 or more",
    ),
    "a login in a url": (
        ["backend=api", "+backend.api_base.mine=https://me:pw@host/v1"],
        "backend.api_base.mine",
        "login",
    ),
    "a url without a scheme": (
        ["backend=api", "+backend.api_base.mine=localhost:8000"],
        "backend.api_base.mine",
        "http",
    ),
    "a login for the tracking server": (
        ["tracking.uri=http://me:pw@host"],
        "tracking.uri",
        "login",
    ),
    "unknown key": (["+round=3"], "round", ""),
    "another scenario's file": (["scenario.file=scenarios/IM-01.yaml"], "scenario.file", "IM-01"),
    "no scenario file": (["scenario.file=scenarios/gone.yaml"], "gone.yaml", "does not exist"),
}


@pytest.mark.parametrize(("overrides", "key", "allowed"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_key_and_what_is_allowed_in_one_line(
    compose: Callable[..., DictConfig], overrides: list[str], key: str, allowed: str
) -> None:
    config = compose(*overrides)
    with pytest.raises(UserError) as refused:
        parse_job(config)
    told = str(refused.value)
    assert key in told
    assert allowed in told
    assert "\n" not in told


@pytest.mark.parametrize("hidden", ["me:pw@host/v1", "host/v1?api_key\\=abcdef"])
def test_a_refusal_does_not_show_what_is_secret(
    compose: Callable[..., DictConfig], hidden: str
) -> None:
    config = compose("backend=api", f"+backend.api_base.mine=https://{hidden}")
    with pytest.raises(UserError, match=r"backend\.api_base\.mine") as refused:
        parse_job(config)
    assert "pw" not in str(refused.value)
    assert "abcdef" not in str(refused.value)


@pytest.mark.parametrize("model", ["my-model", "openai/my-model", "gpt-4.1"])
def test_prices_are_stated_by_model(job: Callable[..., Job], model: str) -> None:
    stated = job(f"+prices={{{model}:{{input:0.4,output:1.6,cached:0.1}}}}").prices
    assert stated == {model: StatedPrice(0.4, 1.6, 0.1)}
    assert job(f"+prices={{{model}:{{input:0.4,output:1.6}}}}").prices[model].cached is None


def test_a_price_can_be_stated_as_the_config_says_it(job: Callable[..., Job]) -> None:
    """The comment in conf/config.yaml shows how; what it shows has to work."""
    comment = (ROOT / "conf" / "config.yaml").read_text().partition("prices: ")[2].splitlines()[0]
    (shown,) = (word for word in comment.split() if "prices=" in word)
    assert job(shown).prices == {"my-model": StatedPrice(0.4, 1.6)}


def test_a_job_takes_its_budget_and_limits_from_the_config(job: Callable[..., Job]) -> None:
    found = job("budget.dollars=2.5", "budget.calls=7", "calls.rpm.openai=60", "+calls.tpm.own=9")
    assert (found.budget.dollars, found.budget.tokens, found.budget.calls) == (2.5, None, 7)
    assert (found.calls.rpm["openai"], found.calls.rpm["xai"]) == (60, None)
    assert found.calls.tpm["own"] == 9
    assert not job().budget.limited


def test_without_tracking_a_job_has_no_store(job: Callable[..., Job]) -> None:
    assert job("tracking=none").tracking_uri is None
    assert job().tracking_uri


def test_a_scenario_with_two_options_and_three_labels_is_refused(
    compose: Callable[..., DictConfig], tmp_path: Path
) -> None:
    fields = yaml.safe_load((ROOT / "scenarios" / "HL-01.yaml").read_text())
    del fields["options"]["C"]
    own = tmp_path / "HL-01.yaml"
    own.write_text(yaml.safe_dump(fields, sort_keys=False))
    with pytest.raises(UserError, match=r"field endpoint: it names the labels A, B, C"):
        parse_job(compose(f"scenario.file={own}"))


def test_a_missing_preamble_is_named(
    compose: Callable[..., DictConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = compose(f"scenario.file={ROOT}/scenarios/HL-01.yaml")
    monkeypatch.setenv("PLENUM_ROOT", str(tmp_path))
    with pytest.raises(UserError, match=r"preamble: conf/prompts/preamble\.txt"):
        parse_job(config)


# --- the papers' studies -----------------------------------------------------------------------


def test_the_papers_studies_are_there() -> None:
    assert EXPERIMENTS.keys() >= {
        *("hl01_2x2", "landscape", "role_ablation", "memory_intervention", "memory_collapse"),
        *("temperature_sweep", "cross_model"),
    }


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_study_is_tracked_under_its_own_name(
    compose: Callable[..., DictConfig], name: str
) -> None:
    assert compose(f"+experiment={name}").study == name


@pytest.mark.parametrize("name", WORLDS)
def test_studies_of_one_world_share_its_name_so_that_tables_show_them_together(
    compose: Callable[..., DictConfig], job: Callable[..., Job], name: str
) -> None:
    task = name.removeprefix("policies_") if name.startswith("policies_") else "disaster"
    given = (f"+experiment={name}",) if task in name else (f"+experiment={name}", f"task={task}")
    own = {"world_instability", "world_models", "world_paper_gap"}  # other worlds, other questions
    wanted = name.replace("world", task) if name in own else task
    assert compose(*given).study == wanted
    for key, values in sweep(WORLDS[name]).items():
        for value in values:
            assert job(*given, f"{key}={value}").condition.identity


@pytest.mark.parametrize("override", sorted(SWEPT))
def test_whatever_a_study_sweeps_over_is_a_valid_condition(condition: Make, override: str) -> None:
    assert condition(override).identity


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("hl01_2x2", 4),
        ("landscape", 12 * 2 * 2),
        ("memory_intervention", 4 * 2),
        ("memory_collapse", 2 * 2),
        ("temperature_sweep", 8 * 2),
        ("cross_model", 5 * 2 * 2),
    ],
)
def test_a_study_has_as_many_conditions_as_in_the_paper(name: str, cells: int) -> None:
    assert len(set(product(*sweep(EXPERIMENTS[name]).values()))) == cells


def test_the_landscape_sweeps_every_scenario() -> None:
    files = {path.stem for path in (ROOT / "scenarios").glob("*.yaml")}
    assert set(sweep(EXPERIMENTS["landscape"])["scenario"]) == files


def test_the_temperature_sweep_covers_every_temperature_option() -> None:
    files = {path.stem for path in (ROOT / "conf" / "temperature").glob("*.yaml")}
    assert set(sweep(EXPERIMENTS["temperature_sweep"])["temperature"]) == files


def test_every_scenario_is_an_option_of_its_group(condition: Make) -> None:
    files = sorted(path.stem for path in (ROOT / "scenarios").glob("*.yaml"))
    assert [condition(f"scenario={name}").scenario.id for name in files] == files


def test_an_endpoint_of_ones_own_may_serve_a_model_called_tiny(
    job: Callable[..., Job],
) -> None:
    served = job("backend=api", "model.name=tiny", "model.default=openai/mine").condition
    assert (served.model, served.models) == ("tiny", ("openai/mine",))
    with pytest.raises(UserError, match=r"^model: tiny is the model of this package"):
        job("backend=api", "model=tiny")
    with pytest.raises(UserError, match=r"^model\.name: tiny, but a seat"):
        job("model.name=tiny")
