"""Tables as files: CSV for programs, Markdown to read, LaTeX to put into a paper."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from plenum.reports.latex import latex
from plenum.reports.markdown import markdown
from plenum.reports.table import Table


def write(folder: Path, stem: str, tables: Sequence[Table], heading: str = "") -> list[Path]:
    """Write ``stem.md`` and ``stem.tex`` into a folder; both files, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f"# {heading}\n\n" if heading else ""
    files = [folder / f"{stem}.md", folder / f"{stem}.tex"]
    files[0].write_text(head + "\n".join(map(markdown, tables)), encoding="utf-8")
    files[1].write_text(latex(tables, stem), encoding="utf-8")
    return files


def write_frames(folder: Path, frames: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write frames as CSV, each under its name; the files, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.csv": frame for name, frame in frames.items()}
    for file, frame in files.items():
        frame.to_csv(file, index=False)
    return list(files)


def frames_of(tables: Sequence[Table]) -> dict[str, pd.DataFrame]:
    """The frames of tables by name; of tables that share a name, the first one's."""
    return {table.name: table.frame for table in reversed(tables) if table.name}
