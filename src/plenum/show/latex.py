r"""Tables for LaTeX, with the rules of booktabs: for ``\input`` into a paper.

Every character is escaped, since labels of studies and texts of scenarios may hold any.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from plenum.show.table import Table
from plenum.show.terminal_tables import split_columns, widths

PREAMBLE = r"""% Tables made by plenum. In the preamble of the paper:
%   \usepackage{amsmath,booktabs,longtable,makecell,pdflscape}
"""

_PORTRAIT, _LANDSCAPE, _MOST = 90, 140, 165
"""Characters of a line of cells: upright, on its side, and on its side in smaller letters. Wider
tables are split, as in a terminal that is too narrow."""

_LINES = 35
"""Longer tables may break over pages, and repeat their heads."""

_BREAK = r"\\"

_ESCAPED = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    # after \\ these would be read as its arguments
    **{c: f"{{{c}}}" for c in "[]*"},
}

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "λ": "lambda",
    "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "χ": "chi", "Γ": "Gamma",
    "Δ": "Delta", "Λ": "Lambda", "Σ": "Sigma",
}  # fmt: skip

_SYMBOLS = {
    **{c: f"$\\{name}$" for c, name in _GREEK.items()},
    "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "≥": r"$\geq$", "≤": r"$\leq$",
    "≈": r"$\approx$", "∞": r"$\infty$", "→": r"$\to$", "−": "$-$", "√": r"$\surd$", "²": "$^2$",
    "³": "$^3$", "½": r"$\frac{1}{2}$", "†": r"\dag{}", "‡": r"\ddag{}",
    "–": "--", "—": "---", "…": r"\dots{}",
    "“": "``", "”": "''", "‘": "`", "’": "'", "\u00a0": "~", "₁": "$_1$", "₂": "$_2$",
    "°": r"$^\circ$", "§": r"\S{}",
}  # fmt: skip

_ACCENTS = {"\u0302": ("hat", "^"), "\u0304": ("bar", "="), "\u0303": ("tilde", "~")}
"""Combining marks: their names over a symbol, and over a letter."""

_WORDS = re.compile(r"(?!never)(?<![^\W\d_])[^\W\d_]|\n")
"""A letter or a second line, which no number has except for ``never``."""

_PERT = r"$\hat{\lambda}_{\text{pert}}$"


def format_latex(tables: Sequence[Table], stem: str = "table") -> str:
    """Write tables as one LaTeX file without a preamble; labels are ``tab:STEM-NUMBER``."""
    parts = [part for table in tables for part in _parts(table)]
    written = [_table(part, f"tab:{_slug(stem)}-{n}") for n, part in enumerate(parts, 1)]
    return "\n".join([PREAMBLE, *written])


def escape(text: str) -> str:
    """Escape a text on one line for LaTeX, character by character."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"(?<![\w.)\]-])-(?=\.?\d)", "−", text)  # of a number, not of 3-20 or t1e-4
    return _PERT.join(
        re.sub(r"(.)([\u0302-\u0304])?", _character, part, flags=re.DOTALL)
        for part in text.split("λ̂_pert")
    )


def _character(match: re.Match[str]) -> str:
    character, accent = match.group(1), match.group(2)
    if accent:
        symbol, letter = _ACCENTS.get(accent, ("hat", "^"))
        if character in _GREEK:
            return f"$\\{symbol}{{\\{_GREEK[character]}}}$"
        return f"\\{letter}{{{_plain(character)}}}"
    return _plain(character)


def _plain(character: str) -> str:
    """Convert one character; one for which LaTeX has no letter becomes its number."""
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    if character in "\t\n":
        return " "
    if " " <= character <= "~" or "À" <= character <= "ž":
        return character
    if unicodedata.category(character)[0] == "C":
        return ""
    return f"{{[}}U+{ord(character):04X}{{]}}"


def _cell(text: object) -> str:
    """Convert a cell; one of several lines is set by makecell."""
    lines = [escape(line) for line in str(text).split("\n")]
    return lines[0] if len(lines) == 1 else rf"\makecell[tl]{{{_BREAK.join(lines)}}}"


def _parts(table: Table) -> list[Table]:
    """Split a table that is too wide for a page, each part with the columns that name a line."""
    parts = split_columns(table.keys, widths(table), _MOST)
    if len(parts) == 1:
        return [table]
    return [
        replace(
            table.with_columns([table.columns[at] for at in part]),
            title=f"{table.title} ({n} of {len(parts)})",
        )
        for n, part in enumerate(parts, 1)
    ]


def _table(table: Table, label: str) -> str:
    """Write a table that floats; a long or wide one breaks over pages, a wide one on its side."""
    wide = sum(widths(table)) + 2 * len(table.head)
    lines = sum(1 + max(cell.count("\n") for cell in line) for line in table.body)
    long = wide > _PORTRAIT or lines > _LINES
    heads: dict[object, str] = dict(enumerate(map(_cell, table.head)))  # they may repeat
    cells = pd.DataFrame(table.body, columns=list(heads)).style.hide(axis="index")
    styled = cells.format(_cell).format_index(lambda n: heads[n], axis="columns")
    text = styled.to_latex(
        environment="longtable" if long else "table",
        position=None if long else "tbp",
        position_float=None if long else "centering",
        hrules=True,
        caption=escape(table.title),
        label=label,
        column_format=_columns(table),
    )
    if table.notes:
        notes = _NOTES % "".join(f"{escape(note)}\\par\n" for note in table.notes)
        text = text + notes if long else text.replace("\\end{table}", f"{notes}\\end{{table}}")
    size = r"\scriptsize" if wide > _LANDSCAPE else r"\footnotesize"
    if not long:
        return text.replace(r"\centering", rf"\centering{size}", 1)
    text = f"{{{size}\\setlength{{\\tabcolsep}}{{3pt}}\n{text}}}\n"
    return _SIDEWAYS % text if wide > _PORTRAIT else text


_SIDEWAYS = r"""\begin{landscape}
%s\end{landscape}
"""

_NOTES = r"""\par\smallskip
\begin{minipage}{\linewidth}\footnotesize\raggedright
%s\end{minipage}
"""


def _columns(table: Table) -> str:
    """Return ``l`` for words and ``r`` for numbers; columns that name a line are words."""
    kinds = [
        "l" if n < table.keys or any(_WORDS.search(cell) for cell in cells) else "r"
        for n, cells in enumerate(zip(*table.body, strict=True))
    ]
    return f"@{{}}{''.join(kinds or 'l' * len(table.head))}@{{}}"


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
