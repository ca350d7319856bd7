"""Write sheets as documents: Markdown to read, LaTeX to put into a paper."""

from collections.abc import Sequence
from pathlib import Path

from plenum.reports.latex import latex
from plenum.reports.sheets import Sheet, markdown


def write(folder: Path, stem: str, sheets: Sequence[Sheet], heading: str = "") -> list[Path]:
    """Write ``stem.md`` and ``stem.tex`` into a folder; both files, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f"# {heading}\n\n" if heading else ""
    files = [folder / f"{stem}.md", folder / f"{stem}.tex"]
    files[0].write_text(head + "\n".join(map(markdown, sheets)), encoding="utf-8")
    files[1].write_text(latex(sheets, stem), encoding="utf-8")
    return files
