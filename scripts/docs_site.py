"""Make the site's navigation and links out of the repository's own, for ``mkdocs build``.

MkDocs calls these functions (``hooks`` in ``mkdocs.yml``). It reads ``docs/`` alone, but pages
there link to files of other folders, as GitHub shows them. So README, CONTRIBUTING, the changelog,
examples and published values come into the site too, and links among all of them are written as
the site has them.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
MOVED = {"README.md": "index.md", "docs/README.md": "contents.md"}
"""Pages that have another name in the site: both would be its first page."""
OUTSIDE = ("*.md", "examples/**/*", "reference/*.md", "reference/*.csv")
"""What comes into the site from outside of ``docs/``."""
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
_FENCED = re.compile(r"^( *)```.*?^\1```", re.M | re.S)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the navigation from the index of pages."""
    config.nav = navigation((ROOT / "docs/README.md").read_text(encoding="utf-8"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside of ``docs/``, under their names in the site."""
    index = files.get_file_from_path("README.md")
    assert index is not None
    files.remove(index)
    outside = sorted(path for pattern in OUTSIDE for path in ROOT.glob(pattern) if path.is_file())
    for path in [ROOT / "docs/README.md", *outside]:
        name = site_path(path.relative_to(ROOT).as_posix())
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write a page's links as the site has them; blocks of code stay as they are."""
    assert page.file.abs_src_path is not None
    home = Path(page.file.abs_src_path).relative_to(ROOT).as_posix()
    parts, end = [], 0
    for block in _FENCED.finditer(markdown):
        parts += [rewritten(markdown[end : block.start()], home), block[0]]
        end = block.end()
    return "".join([*parts, rewritten(markdown[end:], home)])


def rewritten(text: str, home: str) -> str:
    """Turn the links of a page, which is named by its path in the repository, into the site's."""
    here = posixpath.dirname(site_path(home))

    def link(match: re.Match[str]) -> str:
        if ":" in match[1]:
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(home), match[1]))
        return posixpath.relpath(site_path(target), here or ".") + (match[2] or "")

    return _LINK.sub(link, text)


def site_path(path: str) -> str:
    """Name a file of the repository as the site does."""
    return MOVED.get(path, path.removeprefix("docs/"))


def navigation(index: str) -> list[dict[str, Any]]:
    """Make MkDocs' navigation of an index: a section a heading, and each page where it is first.

    Rows of the appendices are sections of their own. The packages, with all pages of each, are a
    section of the home tab; a page belongs to the tab of its task all the same, since MkDocs takes
    the last section that lists it.
    """
    seen = set()
    packages: list[Any] = []
    sections: dict[str, list[Any]] = {
        "Home": ["index.md", {"All pages": "contents.md"}, {"By package": packages}]
    }
    for heading, row in _rows(index):
        linked = dict.fromkeys(re.findall(r"\]\(([\w/-]+\.md)", row))
        if heading == "By package":
            if linked:
                packages.append({row.split("|")[1].strip(" `"): list(linked)})
            continue
        pages = [page for page in linked if page not in seen]
        seen |= set(pages)
        if heading == "Appendices" and pages:
            name = row.split("|")[1].strip()
            sections.setdefault(heading, []).append({name[0].upper() + name[1:]: pages})
        else:
            sections.setdefault(heading, []).extend(pages)
    contributing = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "reference/README.md"]
    return [{name: pages} for name, pages in sections.items() if pages] + [
        {"Contributing": contributing}
    ]


def _rows(index: str) -> Iterator[tuple[str, str]]:
    """Rows of tables below a heading, with the heading."""
    for section in index.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        for row in body.splitlines():
            if row.startswith("|"):
                yield heading, row
