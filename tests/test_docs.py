"""The docs name what can be chosen, and nothing else is offered."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import pytest
import settings_page
from hydra import initialize_config_dir
from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from plenum.design.kinds import KINDS
from plenum.design.schema import config_type
from plenum_audit.design import AuditConfig

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = (ROOT / "docs/appendix/settings.md").read_text(encoding="utf-8")
ROOMS = ("conf", "docs", "reference", "scenarios", "scripts", "src", "tests")
SUFFIXES = {".md", ".py", ".j2", ".yaml", ".yml", ".txt", ".csv"}


@pytest.fixture(scope="module")
def groups() -> Mapping[str, list[str]]:
    """Every config group that ``--help`` lists, with its options."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        listed = Hydra("plenum", loader).list_all_config_groups()
        found = {group: loader.get_group_options(group) for group in listed}
    return {group: options for group, options in found.items() if group.split("/")[0] != "hydra"}


def test_the_page_of_settings_is_what_the_script_writes() -> None:
    assert settings_page.make_page() == SETTINGS


def test_a_page_of_settings_that_differs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "settings.md"
    page.write_text(SETTINGS.replace("| 20 ", "| 21 "))
    monkeypatch.setattr(settings_page, "PAGE", page)
    for arguments, status in ((["--check"], 1), ([], 0), (["--check"], 0)):
        monkeypatch.setattr("sys.argv", ["settings_page.py", *arguments])
        assert settings_page.main() == status
    assert "run python scripts/settings_page.py" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8") == SETTINGS


def test_the_groups_and_options_that_help_lists_are_those_of_the_docs(
    groups: Mapping[str, list[str]],
) -> None:
    documented = settings_page.read_groups()
    assert {group: sorted(options) for group, options in documented.items()} == groups
    for option in (option for options in groups.values() for option in options):
        assert f"`{option}`" in SETTINGS


def test_every_setting_is_in_the_docs() -> None:
    settings = [asdict(config_type(KINDS["world"])()), asdict(AuditConfig())]
    keys = (
        [f"{key}.{part}" for part in value if part != "name"]
        if isinstance(value, dict) and value and key != "columns"
        else [key]
        for each in settings
        for key, value in each.items()
    )
    named = re.findall(r"`([\w.]+)`", SETTINGS)
    parts = {".".join(key.split(".")[:2]) for key in named}
    assert [key for listed in keys for key in listed if key not in {*named, *parts}] == []


@pytest.mark.parametrize("chosen", ["task=none", "task=disaster", "backend=api", "model=tiny"])
def test_defaults_in_the_docs_are_those_of_a_composed_config(
    compose: Callable[..., DictConfig], chosen: str
) -> None:
    cfg = compose(chosen, hydra=True)
    documented = settings_page.read_defaults("config")
    groups, choices = settings_page.read_groups(), cfg.hydra.runtime.choices
    for group in (each for each in reversed([*choices]) if each in groups):  # the last one wins
        documented |= groups[group][choices[group]].values
    for setting in settings_page.list_settings():
        value = OmegaConf.select(cfg, setting.key)
        expected = documented.get(setting.key, setting.default)
        if value is not None and not OmegaConf.is_config(value) and setting.key != "scenario.file":
            assert value == expected, setting.key


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
