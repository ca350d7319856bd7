"""The papers' items as data: they name studies, conditions, tables and files that are there."""

import csv
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import paper_page
import pytest
from omegaconf import DictConfig
from paper_results import FIGURES

from plenum.base.errors import UserError
from plenum.base.project import config_folders
from plenum.design.compose import parse_job
from plenum.design.job import Job
from plenum_papers.items import items, published_values
from plenum_papers.items.catalogue import CATALOGUE as TABLES
from plenum_papers.items.items import Experiment, PaperItem

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
ITEMS = items.items()
Compose = Callable[..., DictConfig]
NUMBERED = [
    name for name in published_values.names() if "source" in published_values.read_numbers(name)[0]
]


@pytest.fixture(scope="module")
def factors(compose: Compose) -> Callable[[Experiment], list[dict[str, str]]]:
    """The factors of every condition that a study has.

    Composing every job takes minutes: each swept value is composed once, without the others.
    """

    @cache
    def changed(override: str, *plainly: str) -> dict[str, str]:
        plain, own = (told(parse_job(compose(*plainly, *given))) for given in ((), (override,)))
        return {name: value for name, value in own.items() if value != plain[name]}

    def told(job: Job) -> dict[str, str]:
        return {name: str(value) for name, value in job.condition.factors.items()}

    @cache
    def of(study: Experiment) -> list[dict[str, str]]:
        swept_over = sweep(compose, study)
        first = [values[0] for values in swept_over]
        base = told(parse_job(compose(*study.overrides(), *first)))
        plainly = [f"task={base['task']}"] if "task" in base else []
        default = told(parse_job(compose(*plainly)))
        found = []
        for overrides in product(*swept_over):
            keys = default.keys() & {override.split("=")[0] for override in overrides}
            swept = {key: default[key] for key in keys}
            found.append(
                base | swept | {k: v for o in overrides for k, v in changed(o, *plainly).items()}
            )
        return found

    return of


def sweep(compose: Compose, study: Experiment, *more: str) -> list[list[str]]:
    """What a study sweeps over: overrides of each key; ``more`` win over the study's own."""
    params = dict(compose(*study.overrides(), hydra=True).hydra.sweeper.params)
    params |= dict(one.split("=", 1) for one in more)
    return [[f"{key}={one}" for one in str(value).split(",")] for key, value in params.items()]


def ids(one: PaperItem | Experiment) -> str:
    return one.id if isinstance(one, PaperItem) else one.name


# --- the catalogue -----------------------------------------------------------------------------


def test_every_figure_and_table_of_the_papers_is_there() -> None:
    figures = ["1a", "1b", "2a", "2b", "3a", "3b", "4", "s1", *(f"s{n}" for n in range(3, 8))]
    tables = [f"s{n}" for n in range(1, 9)]
    assert {one.id for one in ITEMS if one.paper == "001"} == {
        *(f"001/fig-{n}" for n in figures),
        *(f"001/table-{n}" for n in tables),
    }
    assert {one.number[0] for one in ITEMS if one.paper == "000"} == set("1234")
    assert {one.id for one in ITEMS if one.paper == "002"} == {
        *(f"002/fig-{n}" for n in range(3, 6)),  # 1 and 2 are drawings of ideas; 6 has left
        *(f"002/table-{n}" for n in range(1, 7)),
    }


@pytest.mark.parametrize("item", [i for i in ITEMS if i.studies], ids=ids)
def test_an_item_shows_conditions_that_its_studies_have(
    item: PaperItem, factors: Callable[[Experiment], list[dict[str, str]]]
) -> None:
    there = [own for study in item.studies for own in factors(study)]
    for wanted in item.conditions:
        for cell in product(*([(name, value) for value in wanted[name]] for name in wanted)):
            assert any(dict(cell).items() <= own.items() for own in there), dict(cell)


def test_an_item_names_what_is_there() -> None:
    for item in ITEMS:
        assert item.figure or item.table or (ROOT / item.script).is_file()
        assert {item.table} <= {"", *TABLES}
        assert {item.figure} <= {"", *FIGURES}
        assert set(item.published) <= set(published_values.names())


@pytest.mark.parametrize("study", items.experiments(), ids=ids)
def test_a_small_run_of_every_study_composes(compose: Compose, study: Experiment) -> None:
    for at in (0, -1):
        overrides = [values[at] for values in sweep(compose, study, *study.reduced.split())]
        made = parse_job(compose(*study.overrides(), *overrides))
        assert made.study == study.study
        assert made.condition.rounds * made.replicates <= 8 * 18


@pytest.mark.parametrize(
    "study", [s for s in items.experiments() if s.real == "backend=api"], ids=ids
)
def test_a_study_on_the_papers_models_calls_only_what_it_says(
    compose: Compose, study: Experiment
) -> None:
    swept = [
        values if values[0].startswith("model=") else values[:1] for values in sweep(compose, study)
    ]
    made = [
        parse_job(compose(*study.overrides(), study.real, *override))
        for override in product(*swept)
    ]
    models = {model for job in made for model in job.condition.models}
    assert {m.split("/")[0] if "/" in m else "openai" for m in models} == set(study.needs)


# --- names -------------------------------------------------------------------------------------


def test_an_item_is_found_under_many_spellings() -> None:
    spellings = {
        "001/fig-1a": ("001/fig-1a", "001 Fig. 1A"),
        "001/table-s5": ("Table S5",),
        "001/fig-s5": ("figure s5",),
        "001/table-s8": ("s8",),
        "000/fig-1c": ("000 fig 1c",),
        "001/fig-4": ("001, Fig. 4",),
        "002/table-1": ("002 Table 1", "Table 1"),
    }
    found = {
        id_: tuple(t for t in texts if items.item(t).id == id_) for id_, texts in spellings.items()
    }
    assert found == spellings


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("S5", "S5 may be any of 001/fig-s5, 001/table-s5; name one"),
        ("001 Fig. 2", "may be any of 001/fig-2a, 001/fig-2b"),
        ("Table S9", "Table S9; one of 001/fig-1a, "),
    ],
)
def test_what_names_several_items_or_none_is_refused_in_a_line(text: str, named: str) -> None:
    with pytest.raises(UserError, match=named.replace(".", r"\.")):
        items.item(text)


def test_an_item_of_another_paper_may_be_the_same_result() -> None:
    first, second = items.item("001/fig-1b"), items.item("000/fig-2b")
    assert (first.title, first.studies, first.shown_by) == (
        *(second.title, second.studies, second.shown_by),
    )


# --- the page ----------------------------------------------------------------------------------


def test_the_page_lists_what_the_catalogue_has() -> None:
    text = (ROOT / "docs/papers-results.md").read_text()
    again = "python scripts/papers.py markdown=true > docs/papers-results.md"
    assert text.strip() == paper_page.page(), f"make it anew: {again}"


def test_the_commands_of_an_item_begin_with_its_run_and_end_with_what_it_costs() -> None:
    lines = paper_page.commands(items.item("001/fig-1b")).splitlines()
    assert lines[1] == "python run.py -m +experiment=hl01_2x2"
    assert lines[2] == "python scripts/papers.py item=001/fig-1b draw=true"
    assert lines[3].startswith("python scripts/figures.py study=hl01_2x2 figure=matrix  # all")
    assert "backend=api" in lines[-1]
    assert "XAI_API_KEY" in lines[-1]


# --- published values --------------------------------------------------------------------------


def options_of(group: str) -> set[str]:
    return {p.stem for folder in config_folders() for p in folder.glob(f"{group}/*.yaml")}


@pytest.mark.parametrize("name", NUMBERED)
def test_every_published_line_has_a_source_and_factors_of_our_own(name: str, root: Path) -> None:
    options = {
        "scenario": {p.stem for p in (root / "scenarios").glob("*.yaml")} | {"all 12"},
        "roles": options_of("roles"),
        "model": options_of("model"),
        "memory": options_of("memory"),
        "temperature": options_of("temperature"),
        "perturbation": options_of("perturbation"),
    }
    for line in published_values.read_numbers(name):
        assert line["source"][:5] in ("000, ", "001, ", "002, ")
        for factor, values in line.factors.items() if "scenario" in line else ():
            assert set(values.split(" ") if factor == "temperature" else [values]) <= {
                *options[factor],
                "",
            }


@pytest.mark.parametrize("name", NUMBERED)
def test_no_condition_has_two_published_lines(name: str) -> None:
    own = ("seat", "variant", "effect", "reasons", "arm", "diversity", "volatility", "metric")
    own += ("task", "policy", "agents", "family")
    keys = [
        (published_values.key(line.factors), *(line.get(k) for k in own))
        for line in published_values.read_numbers(name)
    ]
    assert len(keys) == len(set(keys))


def test_the_papers_numbers_agree_with_one_another() -> None:
    def numbers(name: str) -> dict[tuple[str, ...], str]:
        return {
            published_values.key(p.factors): p["lambda"]
            for p in published_values.read_numbers(name)
        }

    s5, s6, s8, first = (numbers(n) for n in ("table-s5", "table-s6", "table-s8", "fig-1"))
    for table, other in ((s5, s6), (s5, s8), (s6, s8), (s8, first)):
        both = table.keys() & other.keys()
        assert both
        assert {key: table[key] for key in both} == {key: other[key] for key in both}


def test_the_published_deficits_add_up(root: Path) -> None:
    with (root / "reference/table-s1.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 19
    assert all(int(x["target"]) - int(x["realised"]) == int(x["deficit"]) for x in lines)


def test_a_condition_finds_its_published_line_by_its_factors() -> None:
    own = {
        **{"scenario": "IM-01", "roles": "on", "model": "gpt-4.1-mini", "memory": "k15"},
        **{"temperature": "t0.7", "perturbation": "none", "protocol": "deliberation"},
        **{"settings": "default", "rounds": "8", "backend": "simulated"},
    }
    found = published_values.find_published(["table-s5"], own)
    assert found is not None
    assert (found["lambda"], found["flip_rate"], found["n"]) == ("0.0822", "0.400", "20")
    for change in (
        {"memory": "k3"},
        {"model": "mixed"},
        {"protocol": "one_shot"},
        {"settings": "rerun=1"},
        {"settings": "30 branches after round 10"},
    ):
        assert published_values.find_published(["table-s5"], {**own, **change}) is None


def test_an_unknown_file_of_published_values_is_refused() -> None:
    with pytest.raises(UserError, match="published: table-s9; one of directions, fig-1"):
        published_values.read_numbers("table-s9")


# --- The Hidden Strength of Disagreement -------------------------------------------------------


def printed(number: int) -> list[published_values.PublishedLine]:
    return list(published_values.read_numbers(f"table-{number}"))


def metrics(line: published_values.PublishedLine) -> dict[str, float]:
    names = [metric["metric"] for metric in published_values.read_numbers("metrics")]
    return {name: float(line[name]) for name in names if line.get(name)}


def test_all_276_printed_values_are_there() -> None:
    counts = [sum(len(metrics(line)) for line in printed(number)) for number in range(1, 7)]
    assert counts == [42, 98, 16, 42, 42, 36]
    assert sum(counts) == 276


def test_printed_tables_agree_where_they_print_the_same() -> None:
    def values(number: int, metric: str, by: str, **named: str) -> dict[tuple[str, str], float]:
        return {
            (line["arm"], line.get(by, "")): metrics(line)[metric]
            for line in printed(number)
            if all(line.get(key, "") == value for key, value in named.items())
        }

    models, large = values(6, "CR", "model"), values(3, "CR", "model")
    both = models.keys() & large.keys()
    assert len(both) == 10
    assert {key: models[key] for key in both} == {key: large[key] for key in both}
    overall = {
        arm: value
        for (arm, _), value in values(1, "CR", "model", diversity="", volatility="").items()
    }
    for arm, value in overall.items():
        of_five = [v for (own, name), v in models.items() if own == arm and name]
        assert len(of_five) == 5
        assert abs(sum(of_five) / 5 - value) < 5e-4
        assert models[arm, ""] == value
    for metric in ("CR", "RD"):
        first, second = (values(n, metric, "source", arm="implicit") for n in (1, 2))
        assert list(first.values()) == list(second.values())
