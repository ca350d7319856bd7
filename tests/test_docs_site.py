"""The site that ``make docs`` builds: complete, without broken links, and readable offline."""

import ast
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import plenum
import plenum_audit

pytest.importorskip("mkdocs", reason="mkdocs isn't installed: the extra docs has it")
pytest.importorskip("material", reason="mkdocs-material isn't installed: the extra docs has it")

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
LOADED = re.compile(
    r'<(?:script|img|iframe|source)[^>]* src="?(\S+?)[">]|<link [^>]*href="?([^">]+)'
)


def build(root: Path, into: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout as ``make docs`` does."""
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--site-dir",
        str(into),
    ]  # --quiet isn't strict
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=250
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as built without a warning."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in a language, without their indentation."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.M | re.S)
    return [re.sub(rf"^{indent}", "", code, flags=re.M) for indent, code in found]


@pytest.mark.long
def test_every_page_is_in_the_site_and_in_its_navigation(site: Path) -> None:
    navigation = (site / "contents.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="?([\w./-]+\.html)"? class="?md-nav__link', navigation))
    built = {str(page.relative_to(site)) for page in site.rglob("*.html")} - {"404.html"}
    assert {"index.html", "contents.html", "CONTRIBUTING.html", "api.html"} <= built
    assert len(built) >= len(PAGES)
    assert built - linked == set()


@pytest.mark.long
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        found = [a or b for a, b in LOADED.findall(page.read_text(encoding="utf-8"))]
        assert found
        assert [each for each in found if re.match(r"(https?:)?//", each)] == [], page
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"url\([\"']?(?:https?:)?//|@import", styles) == []


@pytest.mark.long
def test_search_finds_every_name_that_users_import(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    places = {entry["location"] for entry in index}
    for package in (plenum, plenum_audit):
        names = {f"api.html#{package.__name__}.{name}" for name in package.__all__}
        assert names - places == set()
    assert (site / "search/search_index.js").is_file()  # for pages that are opened from the disk


@pytest.mark.long
def test_a_link_to_a_page_or_a_heading_that_is_not_there_stops_the_build(tmp_path: Path) -> None:
    for name in ("docs", "examples", "reference", "src", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for file in (*ROOT.glob("*.md"), ROOT / "mkdocs.yml"):
        shutil.copy(file, tmp_path)
    with (tmp_path / "docs/decisions.md").open("a", encoding="utf-8") as page:
        page.write(
            "\n[a](no-such-page.md) [b](audit.md#no-such-heading) [c](../no-such-file.csv)\n"
        )
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode
    assert [
        name
        for name in ("no-such-page.md", "#no-such-heading", "no-such-file.csv")
        if name not in done.stderr
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_are_of_the_language_that_they_name(page: Path) -> None:
    for code in blocks(page, "python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plenum"):
                module = importlib.import_module(str(node.module))
                names = [each.name for each in node.names if not hasattr(module, each.name)]
                assert [n for n in names if find_spec(f"{node.module}.{n}") is None] == []
    for code in blocks(page, "yaml"):
        assert list(yaml.safe_load_all(code))
    fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.M)
    assert len(fences) % 2 == 0
