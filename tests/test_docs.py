"""The docs name what can be chosen, and nothing else is offered."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from hydra import initialize_config_dir
from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra

from plenum.base.project import config_folders
from plenum.design.kinds import KINDS
from plenum.design.schema import config_type
from plenum_audit.design import AuditConfig

ROOT = Path(__file__).resolve().parents[1]
PAGE = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("appendix/settings.md", "configuration.md")
)
EXPERIMENTS = sorted(file for each in config_folders() for file in each.glob("experiment/*.yaml"))
ROOMS = ("conf", "docs", "reference", "scenarios", "scripts", "src", "tests")
SUFFIXES = {".md", ".py", ".j2", ".yaml", ".yml", ".txt", ".csv"}


def cells(heading: str) -> Mapping[str, list[str]]:
    """The rows of the first table below a heading, by each name in their first cell."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {name: row[1:] for row in rows for name in re.findall(r"`([^`]+)`", row[0])}


@pytest.fixture(scope="module")
def groups() -> Mapping[str, list[str]]:
    """Every config group that ``--help`` lists, with its options."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        listed = Hydra("plenum", loader).list_all_config_groups()
        found = {group: loader.get_group_options(group) for group in listed}
    return {group: options for group, options in found.items() if group.split("/")[0] != "hydra"}


def test_the_groups_that_help_lists_are_those_of_the_docs(
    groups: Mapping[str, list[str]],
) -> None:
    assert set(groups) == set(cells("Groups"))


def test_every_option_of_a_group_is_in_the_docs(groups: Mapping[str, list[str]]) -> None:
    documented = {group: re.findall(r"`([^`]+)`", row[0]) for group, row in cells("Groups").items()}
    for group, options in groups.items():
        assert set(options) <= set(documented[group]), group


def test_every_value_is_in_the_docs() -> None:
    settings = asdict(config_type(KINDS["world"])())
    documented = " ".join([*cells("Values"), *(f"{row[2]}" for row in cells("Groups").values())])
    for key, value in settings.items():
        for name in (
            [f"{key}.{part}" for part in value if part != "name"]
            if isinstance(value, dict)
            else [key]
        ):
            assert name in documented or f"{key}.*" in documented, name


def test_every_setting_of_an_audit_is_in_the_docs_with_its_default() -> None:
    rows = cells("Audits")
    usual = asdict(AuditConfig())
    committee = usual.pop("committee")
    for key, value in {**usual, **{f"committee.{k}": v for k, v in committee.items()}}.items():
        assert key in rows, key
        if isinstance(value, int | float) and not isinstance(value, bool):
            assert f"{value:g}" in rows[key][0].replace("0.80", "0.8"), key


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_an_experiment_has_as_many_conditions_as_the_docs_say(file: Path) -> None:
    section = PAGE.partition("\n## Experiments\n")[2]
    (row,) = [
        line
        for line in section.splitlines()
        if line.startswith("|") and f"`{file.stem}`" in line.split("|")[1]
    ]
    _, names, _, counts, *_ = row.split("|")
    documented = dict(zip(re.findall(r"`([^`]+)`", names), counts.split(","), strict=True))
    params = yaml.safe_load(file.read_text())["hydra"]["sweeper"]["params"]
    swept = math.prod(len(str(values).split(",")) for values in params.values())
    assert int(documented[file.stem]) == swept


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = (h.lower() for h in re.findall(r"^#+ (.*)$", prose(page), re.M))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not link.startswith(("http://", "https://")):
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_papers_are_called_by_their_titles() -> None:
    titles = re.findall(
        r"^\| `(\d{3})` \| .*?\*(.*?)[.*]", (ROOT / "docs/papers.md").read_text("utf-8"), re.M
    )
    assert [number for number, _ in titles] == ["000", "001", "002"]
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert [title for _, title in titles if title not in readme] == []
    otherwise = re.compile(r"seed[ -]00\d|consensus[ ]paper", re.I)
    files = (file for room in ROOMS for file in (ROOT / room).rglob("*"))
    texts = [file for file in files if file.suffix in SUFFIXES]
    assert [str(file) for file in texts if otherwise.search(file.read_text("utf-8"))] == []


def test_every_file_that_the_page_for_developers_names_is_there() -> None:
    page = prose(ROOT / "CONTRIBUTING.md")
    named = re.findall(r"`((?:\.\./)*[\w/-]+(?:\.(?:py|sh|yaml|csv)|/))`", page)
    assert len(named) > 10
    roots = (ROOT, ROOT / "src/plenum", ROOT / "src")
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


def test_the_index_leads_to_every_page() -> None:
    index = ROOT / "docs/README.md"
    linked = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", prose(index))}
    pages = {str(page.relative_to(index.parent)) for page in index.parent.glob("**/*.md")}
    assert pages - {"README.md"} <= linked


def test_the_index_has_every_page_once_with_its_package() -> None:
    index = ROOT / "docs/README.md"
    section = prose(index).partition("\n## By package\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\w+)`", section, re.M)
    assert named == sorted(path.name for path in (ROOT / "src").glob("plenum*"))
    rows = "\n".join(line for line in section.splitlines() if line.startswith("| `"))
    pages = {str(page.relative_to(index.parent)) for page in index.parent.glob("**/*.md")}
    assert sorted(re.findall(r"\]\(([^)\s]+)\)", rows)) == sorted(pages - {"README.md"})
