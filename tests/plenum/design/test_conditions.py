"""From real composed configs to conditions: what is built, and what is refused in one line."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import yaml
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.project import config_folders
from plenum.design.compose import parse_job
from plenum.design.condition import Condition, temperature_label
from plenum.design.job import Job
from plenum.design.settings import StatedPrice

ROOT = Path(__file__).resolve().parents[3]
SEATS = ["Chair", "Welfare", "Rights", "Equity", "Security"]
EVERY = {path.stem: path for each in config_folders() for path in each.glob("experiment/*.yaml")}
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
        "scenario": "IM-01",
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


def test_roles_and_models_fill_the_seats(condition: Make) -> None:
    folder = ROOT / "conf" / "prompts" / "mandates"
    mandates = [(folder / f"{seat.lower()}.txt").read_text().strip() for seat in SEATS]
    assert [(s.name, s.label, s.mandate) for s in condition().seats] == [
        *zip(SEATS, SEATS, mandates, strict=True)
    ]
    off = condition("roles=off")
    assert [(s.label, s.mandate) for s in off.seats] == [(seat, "") for seat in SEATS]
    nobody = condition("roles=anonymous").seats
    assert [(s.label, s.mandate) for s in nobody] == [(f"Member {n}", "") for n in range(1, 6)]
    assert (condition().roles, off.roles) == ("on", "off")  # no booleans
    assert condition().models == ("gpt-4.1-mini",)
    mixed = condition("model=mixed").models
    assert (len(mixed), sum("grok" in model for model in mixed)) == (5, 1)
    assert condition().calls == 106


@pytest.mark.parametrize("seat", SEATS)
def test_an_ablation_takes_out_one_mandate_and_nothing_else(condition: Make, seat: str) -> None:
    whole, ablated = condition().seats, condition(f"roles=ablate_{seat.lower()}").seats
    emptied = [a.name for w, a in zip(whole, ablated, strict=True) if a.mandate != w.mandate]
    assert emptied == [seat]
    assert [a.mandate for a in ablated if a.name == seat] == [""]
    assert [a.label for a in ablated] == SEATS


def test_a_seat_of_ones_own_needs_no_code(condition: Make) -> None:
    own = condition("+roles.seats.Scribe=welfare")
    assert [seat.name for seat in own.seats] == [*SEATS, "Scribe"]
    assert own.seats[5].mandate == own.seats[1].mandate
    assert own.calls == 6 * 21 + 1


def test_a_committee_of_another_size_repeats_the_seats_as_the_released_files_do(
    condition: Make,
) -> None:
    again = ["Welfare2", "Rights2", "Equity2", "Security2", "Welfare3"]
    ten = condition("roles.agents=10", "model=mixed")
    assert [seat.name for seat in ten.seats] == [*SEATS, *again]
    for copy, listed in ((5, 1), (8, 4), (9, 1)):
        mandate, model = ten.seats[listed].mandate, ten.seats[listed].model
        assert (ten.seats[copy].mandate, ten.seats[copy].model) == (mandate, model)
    assert [seat.name for seat in condition("roles.agents=2").seats] == ["Chair", "Welfare"]
    forty = condition("roles.agents=40", "roles=anonymous").seats
    assert (forty[39].name, forty[39].label) == ("Equity10", "Member 40")
    assert [condition(f"roles.agents={n}").settings for n in (2, 5)] == ["agents=2", "default"]


def test_a_model_for_one_seat_can_be_set_directly(condition: Make) -> None:
    models = {s.name: s.model for s in condition("+model.seats.Chair=xai/grok-3").seats}
    assert models == dict.fromkeys(SEATS, "gpt-4.1-mini") | {"Chair": "xai/grok-3"}


@pytest.mark.parametrize(
    ("option", "value"),
    [("memory=k3", "protocol.window=3"), ("temperature=t0.7", "sampling.temperature=0.7")],
)
def test_an_option_is_a_name_for_a_value(condition: Make, option: str, value: str) -> None:
    assert condition(option).identity == condition(value).identity


@pytest.mark.parametrize(
    ("value", "label"),
    [(0.0, "t0"), (1e-5, "t1e-5"), (0.001, "t0.001"), (0.7, "t0.7"), (2.5e-6, "t2.5e-6")],
)
def test_any_temperature_has_a_label(value: float, label: str) -> None:
    assert temperature_label(value) == label


# --- what is refused ---------------------------------------------------------------------------

REFUSED = {
    "unknown role": (["roles.seats.Chair=judge"], "roles.seats.Chair", "chair, equity, rights"),
    "no seats": (["roles.seats=null"], "roles.seats", ""),
    "odd seat name": (["+roles.seats._x=chair"], "roles.seats", "letters"),
    "negative temperature": (["sampling.temperature=-0.1"], "sampling.temperature", "0 or more"),
    "temperature inf": (["sampling.temperature=inf"], "sampling.temperature", "0 or more"),
    "temperature in words": (["sampling.temperature=warm"], "sampling.temperature", "warm"),
    "window of none": (["protocol.window=0"], "protocol.window", "1 or more"),
    "half a window": (["protocol.window=2.5"], "protocol.window", "2.5"),
    "no model at all": (["model.default=null"], "model.seats.Chair", "model.default"),
    "a clerk without a model": (["model=mixed", "model.clerk=null"], "model.clerk", "clerk"),
    "no agents": (["roles.agents=0"], "roles.agents", "1 to 100"),
    "copies of nobody": (
        [
            "~roles.seats.Welfare",
            "~roles.seats.Rights",
            "~roles.seats.Equity",
            "~roles.seats.Security",
            "roles.agents=3",
        ],
        "roles.agents",
        "Chair alone",
    ),
    "an unknown order": (["protocol.order=drawn"], "protocol.order", "listed, random"),
    "an unknown rule": (["protocol.decision=dice"], "protocol.decision", "majority, clerk"),
    "an unknown state": (["protocol.initial_state=odd"], "protocol.initial_state", "none, even"),
    "a vote without feedback": (
        ["protocol=one_shot", "protocol.feedback=false"],
        "protocol.feedback",
        "one_shot",
    ),
    "a model for nobody": (["+model.seats.Nobody=gpt-4.1"], "model.seats.Nobody", "Chair, Welfare"),
    "negative seed": (["seed=-1"], "seed", "0 or more"),
    "study with a slash": (["study=a/b"], "study", "letters"),
    "study left open": (["study='???'"], "study", ""),
    "unknown backend": (["backend.name=oracle"], "backend.name", "simulated, api"),
    "unknown knob": (["+backend.volume=3"], "volume", ""),
    "knob in words": (["backend.gain=loud"], "backend.gain", "loud"),
    "negative gain": (["backend.gain=-1"], "backend.gain", "0 or more"),
    "noise above one": (["backend.noise=1.5"], "backend.noise", "0 to 1"),
    "no attempts": (["calls.max_attempts=0"], "calls.max_attempts", "1 or more"),
    "no time": (["calls.timeout_s=0"], "calls.timeout_s", "above 0"),
    "adapting in words": (["calls.adapt=maybe"], "calls.adapt", "maybe"),
    "no requests": (["calls.rpm.openai=0"], "calls.rpm.openai", "1 or more"),
    "half a request": (["calls.rpm.openai=1.5"], "calls.rpm.openai", "1.5"),
    "requests of nobody": (["calls.rpm=7"], "calls.rpm", "in braces"),
    "unknown transport": (["calls.transport=pigeon"], "calls.transport", "lean, litellm"),
    "negative dollars": (["budget.dollars=-1"], "budget.dollars", "-1"),
    "dollars inf": (["budget.dollars=inf"], "budget.dollars", "0 or more"),
    "another currency": (["+budget.euros=3"], "budget.euros", ""),
    "negative price": (["+prices={m:{input:-1,output:2}}"], "prices.m.input", "0 or more"),
    "half a price": (["+prices={m:{input:1}}"], "output", "issing"),
    "price in words": (["+prices={m:{input:dear,output:2}}"], "prices.m.input", "dear"),
    "branch after the last round": (["branch.after_round=20"], "branch.after_round", "1 to 19"),
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
    "a login in a fleet": (
        ["backend=api", "backend.api_base.openai=[http://h/v1,https://me:pw@host/v1]"],
        "backend.api_base.openai",
        "login",
    ),
    "a server twice": (
        ["backend=api", "backend.api_base.openai=[http://h/v1,http://h/v1/]"],
        "backend.api_base.openai",
        "twice",
    ),
    "servers in one text": (
        ["backend=api", "backend.api_base.openai='http://h/v1,http://i/v1'"],
        "backend.api_base.openai",
        "=[URL,URL]",
    ),
    "nothing where something is needed": (["calls.rpm=null"], "calls.rpm", "null; it needs"),
    "journals in no folder": (["journals=gs://bucket/prefix"], "journals", "it is a folder"),
    "a store without a name": (["tracking.uri=''"], "tracking.uri", "null"),
    "runs in no store": (
        ["tracking=none", "tracking.replicates=all"],
        "tracking.replicates",
        "tracking=none",
    ),
    "no server": (["backend=api", "backend.api_base.openai=[]"], "backend.api_base.openai", "URL"),
    "a port for a server": (["backend=api", "backend.api_base.openai=8000"], "openai", "8000"),
    "a login for the tracking server": (
        ["tracking.uri=http://me:pw@host"],
        "tracking.uri",
        "login",
    ),
    "unknown key": (["+round=3"], "round", ""),
    "another scenario's file": (["scenario.file=scenarios/HL-01.yaml"], "scenario.file", "HL-01"),
    "no scenario file": (["scenario.file=scenarios/gone.yaml"], "gone.yaml", "does not exist"),
}


@pytest.mark.parametrize(("overrides", "key", "allowed"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_key_and_what_is_allowed_in_one_line(
    refusal: Callable[..., str], overrides: list[str], key: str, allowed: str
) -> None:
    told = refusal(*overrides)
    assert key in told
    assert allowed in told


@pytest.mark.parametrize("hidden", ["me:pw@host/v1", "host/v1?api_key\\=abcdef"])
def test_a_refusal_does_not_show_what_is_secret(
    compose: Callable[..., DictConfig], hidden: str
) -> None:
    config = compose("backend=api", f"+backend.api_base.mine=https://{hidden}")
    with pytest.raises(UserError, match=r"backend\.api_base\.mine") as refused:
        parse_job(config)
    assert "pw" not in str(refused.value)
    assert "abcdef" not in str(refused.value)


def test_prices_are_stated_by_model_as_the_config_shows(job: Callable[..., Job]) -> None:
    comment = (ROOT / "conf" / "config.yaml").read_text().partition("prices: ")[2].splitlines()[0]
    (shown,) = (word for word in comment.split() if "prices=" in word)
    assert job(shown).prices == {"my-model": StatedPrice(0.4, 1.6)}
    stated = job("+prices={openai/gpt-4.1:{input:0.4,output:1.6,cached:0.1}}").prices
    assert stated == {"openai/gpt-4.1": StatedPrice(0.4, 1.6, 0.1)}


def test_a_job_takes_its_budget_and_limits_from_the_config(job: Callable[..., Job]) -> None:
    found = job("budget.dollars=2.5", "budget.calls=7", "calls.rpm.openai=60", "+calls.tpm.own=9")
    assert (found.budget.dollars, found.budget.tokens, found.budget.calls) == (2.5, None, 7)
    assert (found.calls.rpm["openai"], found.calls.rpm["xai"]) == (60, None)
    assert found.calls.tpm["own"] == 9
    assert not job().budget.limited
    assert job("tracking=none").tracking_uri is None
    other = job("roles=off", "rounds=7", "replicates=7")
    kept = yaml.safe_load(other.config)
    assert (kept["roles"]["name"], kept["rounds"], other.replicates) == ("off", 7, 7)


def test_a_missing_preamble_is_named(
    compose: Callable[..., DictConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = compose(f"scenario.file={ROOT}/scenarios/IM-01.yaml")
    (tmp_path / "conf/prompts").mkdir(parents=True)
    monkeypatch.setenv("PLENUM_ROOT", str(tmp_path))
    with pytest.raises(UserError, match=r"preamble: conf/prompts/preamble\.txt"):
        parse_job(config)


# --- the papers' studies -----------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.needs("plenum_papers")
def test_the_papers_studies_sweep_valid_conditions_under_their_own_names(
    compose: Callable[..., DictConfig], condition: Make
) -> None:
    assert {name for name in EXPERIMENTS if compose(f"+experiment={name}").study != name} == set()
    for override in sorted(SWEPT):
        assert condition(override).identity
    cells = {name: len(set(product(*sweep(path).values()))) for name, path in EXPERIMENTS.items()}
    assert cells.items() >= {
        *(("hl01_2x2", 4), ("landscape", 12 * 2 * 2), ("memory_intervention", 4 * 2)),
        *(("memory_collapse", 2 * 2), ("temperature_sweep", 8 * 2), ("cross_model", 5 * 2 * 2)),
    }
    for study, key, folder in (
        ("landscape", "scenario", "scenarios"),
        ("temperature_sweep", "temperature", "conf/temperature"),
    ):
        files = {path.stem for path in (ROOT / folder).glob("*.yaml")}
        assert set(sweep(EXPERIMENTS[study])[key]) == files - {"CL-04-five"}


@pytest.mark.parametrize("name", WORLDS)
def test_studies_of_one_world_share_its_name_so_that_tables_show_them_together(
    compose: Callable[..., DictConfig], job: Callable[..., Job], name: str
) -> None:
    task = name.removeprefix("policies_") if name.startswith("policies_") else "disaster"
    given = (f"+experiment={name}",) if task in name else (f"+experiment={name}", f"task={task}")
    own = {"world_instability", "world_models", "world_paper_gap"}  # other worlds, other questions
    own |= {"world_released", "world_scaling", "world_score", "world_single_roles"}
    wanted = name.replace("world", task) if name in own else task
    assert compose(*given).study == wanted
    swept = sweep(WORLDS[name])
    for n in range(max(map(len, swept.values()))):  # each value is in one of these jobs
        values = [f"{key}={values[min(n, len(values) - 1)]}" for key, values in swept.items()]
        assert job(*given, *values).condition.identity


@pytest.mark.needs("plenum_hosted")
def test_an_endpoint_of_ones_own_may_serve_a_model_called_tiny(
    job: Callable[..., Job],
) -> None:
    served = job("backend=api", "model.name=tiny", "model.default=openai/mine").condition
    assert (served.model, served.models) == ("tiny", ("openai/mine",))
    with pytest.raises(UserError, match=r"^model: tiny is the model of this package"):
        job("backend=api", "model=tiny")
    with pytest.raises(UserError, match=r"^model\.name: tiny, but a seat"):
        job("model.name=tiny")
