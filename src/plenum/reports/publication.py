"""Publication of every product: written, logged to MLflow, and printed.

Tables become CSV for programs, Markdown to read, and LaTeX to put into a paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from plenum.reports.settings import Settings
from plenum.show.latex import format_latex
from plenum.show.markdown import format_markdown
from plenum.show.table import Table, format_csv
from plenum.show.terminal_tables import show_tables, show_text, show_whole
from plenum.tracking.report_run import log_report


@dataclass(frozen=True)
class Product:
    """Tables that are published together.

    Attributes
    ----------
    stem
        The name of the documents, without ``.md`` and ``.tex``.
    tables
        What the documents have.
    frames
        The CSV files by name, without the ending.
    printed
        What the terminal shows; all tables where it is ``None``.
    screen
        What a screen shows instead of all that; ``None`` for no less.
    heading
        Stands above the Markdown.
    more
        Lines for the terminal below the tables.
    """

    stem: str
    tables: Sequence[Table]
    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    printed: Sequence[Table] | None = None
    screen: Sequence[Table] | None = None
    heading: str = ""
    more: Sequence[str] = ()

    def write(self, folder: Path) -> list[Path]:
        """Write the CSV files, the Markdown and the LaTeX; all files, in this order."""
        head = f"# {self.heading}\n\n" if self.heading else ""
        texts = {
            **{f"{name}.csv": format_csv(frame) for name, frame in self.frames.items()},
            f"{self.stem}.md": head + "\n".join(map(format_markdown, self.tables)),
            f"{self.stem}.tex": format_latex(self.tables, self.stem),
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        return [folder / name for name in texts]


def publish_product(product: Product, chosen: Settings) -> None:
    """Write a product, log its files to the study's report in MLflow, and print it."""
    files = product.write(chosen.folder)
    if chosen.study and not chosen.split:  # the study's report has the tables of its design
        log_report(chosen.study, chosen.uri, files)
    if product.screen is not None and not chosen.every:
        show_whole(product.screen)
        return
    show_tables(product.tables if product.printed is None else product.printed)
    for line in product.more:
        show_text(line)
    print_written(files)


def print_written(files: Sequence[Path]) -> None:
    """Print which files were written."""
    show_text(f"written: {', '.join(map(str, files))}")
