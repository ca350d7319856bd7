"""What a figure shows, as numbers and words: written in place of the image.

python drawings.py SCRIPT [ARGUMENT ...]     runs a script so that its figures are written so
"""

import hashlib
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np


def instead_of_images() -> None:
    """Let ``Figure.savefig`` write :func:`shown` as JSON, and let nothing be rendered."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    def savefig(figure: Figure, file: Any, **options: Any) -> None:
        text = json.dumps(shown(figure), indent=1, ensure_ascii=False)
        if isinstance(file, str | Path):
            Path(file).write_text(text + "\n", encoding="utf-8")
        else:
            file.write(text.encode())

    Figure.savefig = savefig  # type: ignore[method-assign, assignment]
    FigureCanvasAgg.draw = lambda self: None  # type: ignore[method-assign, assignment]


def shown(figure: Any) -> dict[str, Any]:
    """The data and the words of a figure.

    Data are a digest of every artist's numbers, rounded to 8 significant digits and sorted by
    artist, so that neither the order of drawing nor the last bits of a platform count.
    """
    artists: list[str] = []
    for axes in figure.axes:
        for line in axes.lines:
            artists.append(_digest("line", line.get_xydata()))
        for patch in axes.patches:
            artists.append(_digest("patch", patch.get_path().vertices, patch.get_transform()))
        for collection in axes.collections:
            artists.append(_digest("offsets", collection.get_offsets()))
            for path in collection.get_paths():
                artists.append(_digest("path", path.vertices))
        for image in axes.images:
            artists.append(_digest("image", image.get_array()))
    words = sorted(text for axes in figure.axes for text in _words(axes))
    return {
        "axes": len(figure.axes),
        "artists": len(artists),
        "data": hashlib.sha256("".join(sorted(artists)).encode()).hexdigest()[:16],
        "words": [text for text in words if text],
    }


def _digest(kind: str, data: Any, _transform: Any = None) -> str:
    values = np.ma.filled(np.ma.asarray(data, dtype=float), np.nan).ravel()
    rounded = " ".join(f"{value:.7g}" if abs(value) > 1e-9 else "0" for value in values.tolist())
    return hashlib.sha256(f"{kind} {rounded}".encode()).hexdigest()


def _words(axes: Any) -> list[str]:
    legend = axes.get_legend()
    return [
        *(axes.get_title(), axes.get_xlabel(), axes.get_ylabel()),
        *(text.get_text() for text in axes.texts),
        *(text.get_text() for text in (legend.get_texts() if legend else [])),
    ]


if __name__ == "__main__":
    instead_of_images()
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
