"""Publication of a study's figures: drawn, written and logged."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from plenum.base.errors import UserError
from plenum.reports.figures.catalogue import CATALOGUE, Drawing, SavedFigure, draw_nothing
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy, load_study
from plenum.show import style
from plenum.show.latex import escape
from plenum.show.phrases import render
from plenum.tracking.report_run import log_report


def publish_committees(chosen: Settings, names: Collection[str] | None = None) -> None:
    """Draw every figure for which a study of committees has data, as PNG and SVG, and log them.

    ``names`` selects some of them.

    Raises
    ------
    UserError
        There is no such figure, or the study has nothing to show in one of those named.
    """
    require_known(names, CATALOGUE)
    study = load_study(chosen, outlined=True)
    _ = study.baseline, study.reruns  # a name that is wrong is refused before anything is written
    publish_figures(draw_figures(study, chosen.out, names), chosen)
    if study.large and names is None:
        left = [name for name, drawing in CATALOGUE.items() if drawing.many is draw_nothing]
        facts = {"conditions": len(study.rows), "names": left}
        print(*render("plenum.reports.figures/captions.j2", "omitted", **facts))


def publish_figures(drawn: Sequence[SavedFigure], chosen: Settings) -> None:
    """Write the captions of figures beside them, log all to MLflow, and tell the files."""
    files = [file for each in drawn for file in each.files]
    files += save_captions({each.files[0].stem: each.caption for each in drawn}, chosen.out)
    log_report(chosen.study, chosen.uri, files)
    for file in files:
        print(f"written: {file}")


def save_captioned(
    figures: Mapping[str, Figure], folder: Path, *, captioned: bool = False
) -> list[Path]:
    """Write figures by the names of their files, and their captions beside them."""
    files = []
    for name, figure in figures.items():
        files += style.save_figure(figure, folder, name, captioned=captioned)
    captions = {name: style.read_caption(figure) for name, figure in figures.items()}
    return files + save_captions(captions, folder)


def save_captions(captions: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the captions of figures, by the names of their files, as Markdown and for LaTeX.

    Captions of figures that an earlier call has drawn into the folder stay.
    """
    captions = {**_read_captions(folder / "captions.md"), **captions}
    texts = {
        "captions.md": "\n".join(f"## {name}\n\n{text}\n" for name, text in captions.items()),
        "captions.tex": "\n".join(
            f"% {name}\n\\caption{{{escape(text)}}}\n" for name, text in captions.items()
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return [folder / name for name in texts]


def _read_captions(file: Path) -> dict[str, str]:
    """Read the captions of those figures that are still beside their file."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    parts = (part.partition("\n\n") for part in f"\n{text}".split("\n## ")[1:])
    return {
        name: caption.removesuffix("\n")
        for name, _, caption in parts
        if any(file.parent.glob(f"{name}.*"))
    }


def draw_figures(
    study: EstimatedStudy,
    folder: Path,
    names: Collection[str] | None = None,
    told: Callable[[str], object] = lambda name: None,
) -> list[SavedFigure]:
    """Draw a study's figures into a folder; return each page.

    With ``names``, those alone; nothing is written unless all of them can be drawn. ``told`` is
    called with the name of each that was drawn.

    Raises
    ------
    UserError
        No replicate has been completed, there is no such figure, or the study has nothing to show
        in one of those named.
    """
    require_known(names, CATALOGUE)
    if not any(row.n for row in study.rows):
        raise UserError(f"study: no replicate of {study.chosen.study!r} has been completed")
    drawings = [drawing for name, drawing in CATALOGUE.items() if names is None or name in names]
    drawn: Iterable[tuple[Drawing, list[Figure]]]
    drawn = ((drawing, draw_pages(drawing, study)) for drawing in drawings)
    if names is not None:
        drawn = list(drawn)
        for drawing, figures in drawn:
            if not figures:
                plt.close("all")
                needs = f"; it needs {drawing.needs}" if drawing.needs else ""
                if study.large and drawing.many is draw_nothing:
                    needs = f", since {len(study.rows):,} conditions are too many"
                nothing = f"{study.chosen.study!r} has nothing to show in {drawing.name}{needs}"
                raise UserError(f"figure: {nothing}")
    saved = []
    for drawing, figures in drawn:
        saved += save_pages(drawing, figures, folder, captioned=study.chosen.captions)
        if figures:
            told(drawing.name)
    if not saved:
        raise UserError(
            f"study: {study.chosen.study!r} has nothing to draw yet: no condition has estimates"
        )
    return saved


def require_known(names: Collection[str] | None, available: Collection[str]) -> None:
    """Refuse the name of a figure that doesn't exist."""
    for name in names or ():
        if name not in available:
            raise UserError(f"figure: {name}; one of {', '.join(available)}")


def draw_pages(drawing: Drawing, study: EstimatedStudy) -> list[Figure]:
    """Draw a figure of a study, on as many pages as it needs; none without data."""
    sampled = study.large and drawing.many is None
    with style.apply_style():
        draw = drawing.many if study.large and drawing.many else drawing.draw
        drawn = draw(study.sample if sampled else study)
        figures = [drawn] if isinstance(drawn, Figure) else list(drawn or [])
        if sampled:
            counts = len(study.sample.rows), len(study.deliberated)
            more = render(
                "plenum.reports.figures/captions.j2", "sampled", drawn=counts[0], total=counts[1]
            )
            for figure in figures:
                style.add_caption(figure, [*more, style.read_caption(figure)])
    return figures


def save_pages(
    drawing: Drawing, figures: Sequence[Figure], folder: Path, stem: str = "", *, captioned: bool
) -> list[SavedFigure]:
    """Write a figure's pages; remove further ones of an earlier time."""
    stem, saved = stem or drawing.name, []
    for number, figure in enumerate(figures, 1):
        name = stem + (f"_{number}" if number > 1 else "")
        files = style.save_figure(figure, folder, name, captioned=captioned)
        saved.append(SavedFigure(drawing.name, drawing.shows, files, style.read_caption(figure)))
    number = len(figures) + 1
    while figures and (further := folder / f"{stem}_{number}.png").exists():
        further.unlink()
        further.with_suffix(".svg").unlink(missing_ok=True)
        number += 1
    return saved
