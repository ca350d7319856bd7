"""Sheets as LaTeX: nothing that a cell holds can break a table."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_tables import of_cells

from plenum.reports.publication import Product
from plenum.show.latex import escape, format_latex

SHEET = of_cells("λ̂ of a_b", ("roles", "λ̂", "n"), (("on", "-0.05", "3/4"),), ("a note: 5 %",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a & b", r"a \& b"),
        ("5 %", r"5 \%"),
        ("flip_rate #1", r"flip\_rate \#1"),
        ("{x}", r"\{x\}"),
        ("a\\b", r"a\textbackslash{}b"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("$5", r"\$5"),
        ("<.0001 > |", r"\textless{}.0001 \textgreater{} \textbar{}"),
        ("λ̂", r"$\hat{\lambda}$"),
        ("Δλ̂", r"$\Delta$$\hat{\lambda}$"),
        ("λ̂_pert", r"$\hat{\lambda}_{\text{pert}}$"),
        ("Γ̂ > 0", r"$\hat{\Gamma}$ \textgreater{} 0"),
        ("d̄", r"\={d}"),
        ("0.1 ±0.02†", r"0.1 $\pm$0.02\dag{}"),
        ("[-0.0079, .5]", r"{[}$-$0.0079, .5{]}"),
        ("t1e-4, rounds 3-20, R-1", "t1e-4, rounds 3-20, R-1"),
        ("*f", "{*}f"),
        ("Ñandú, Žižek", "Ñandú, Žižek"),
        ("😀", "{[}U+1F600{]}"),
        ("a\x00b\u202ec", "abc"),
        ('"x"', "''x''"),
    ],
)
def test_every_character_is_shown_as_itself(text: str, told: str) -> None:
    assert escape(text) == told


def unescaped(text: str) -> str:
    """What is left to LaTeX's own reading: without escaped characters."""
    return re.sub(r"\\[a-zA-Z]+|\\.", "", text)


@given(st.text())
def test_no_text_can_open_a_group_a_comment_or_a_column(text: str) -> None:
    left = unescaped(escape(text))
    assert not set(left) & set("%&#\\")
    assert left.count("{") == left.count("}")
    assert left.count("$") % 2 == 0
    assert "\n" not in escape(text)


@given(st.lists(st.text(), min_size=3, max_size=3))
def test_a_line_has_as_many_columns_as_the_head(cells: list[str]) -> None:
    text = format_latex([of_cells("t", ("a", "b", "c"), (tuple(cells),), ())])
    inner = text.partition(r"\endlastfoot")[2] or text.partition(r"\midrule")[2]
    body = re.split(r"\\(?:bottomrule|end\{longtable\})", inner)[0]
    assert len(re.findall(r"(?<!\\)&", body)) == 2


def environments(text: str) -> list[str]:
    """What is begun, checking that it is ended in order."""
    begun, order = [], []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            begun.append(name)
            order.append(name)
        else:
            assert begun.pop() == name
    assert begun == []
    return order


def test_a_short_table_floats_with_caption_rules_and_notes() -> None:
    text = format_latex([SHEET], "table_s5")
    assert environments(text) == ["table", "tabular", "minipage"]
    assert "\\caption{$\\hat{\\lambda}$ of a\\_b}\n\\label{tab:table-s5-1}\n" in text
    assert r"\begin{tabular}{@{}lrr@{}}" in text
    assert "on & $-$0.05 & 3/4 \\\\" in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert r"a note: 5 \%\par" in text


def test_a_long_table_breaks_over_pages_and_repeats_its_head() -> None:
    text = format_latex([of_cells("t", ("a", "b"), (("x", "1"),) * 60, ())])
    assert environments(text) == ["longtable"]
    assert text.count("a & b \\\\") == 2
    assert text.index(r"\endfirsthead") < text.index(r"\endhead") < text.index(r"\endlastfoot")


def test_a_wide_table_lies_on_its_side_and_a_wider_one_is_parted() -> None:
    wide = of_cells("t", ("key", *"abcd"), (("k", *("x" * 25,) * 4),), ())
    assert environments(format_latex([wide])) == ["landscape", "longtable"]
    wider = of_cells("t", ("key", *"abcdefghij"), (("k", *("x" * 25,) * 10),), ("note",))
    text = format_latex([wider])
    parts = re.findall(r"\\caption\{t \((\d) of (\d)\)\}", text)
    assert parts == [("1", "2"), ("2", "2")]
    assert text.count("k & xxx") == 2  # each part names its lines
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(set(labels)) == 2


def test_cells_of_several_lines_are_set_by_makecell() -> None:
    text = format_latex([of_cells("t", ("a", "published\nn"), (("x", "1\n[2, 3]"),), ())])
    assert r"\makecell[tl]{1\\{[}2, 3{]}}" in text
    assert r"\makecell[tl]{published\\n}" in text


def test_a_table_without_lines_is_still_one() -> None:
    assert environments(format_latex([of_cells("t", ("a", "b"), (), ("none",))]))[1] == "tabular"


def test_the_maths_is_maths() -> None:
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    for text in ("λ̂", "Γ̂", "Δ", "±", "²", "≥", "τ", "½", "−", "·", "→", "∞", "χ"):
        escaped = escape(text)
        assert escaped.isascii()
        assert escaped.strip("$") == escaped[1:-1]  # all of it stands between dollars
        assert parser.parse(escaped).glyphs


def test_documents_hold_the_same_tables(tmp_path: Path) -> None:
    product = Product("tables", [SHEET, SHEET], {"data": SHEET.frame}, heading="Study x")
    data, markdown, tex = product.write(tmp_path / "new")
    assert data.read_text() == SHEET.frame.to_csv(index=False)
    assert markdown.read_text().startswith("# Study x\n")
    assert markdown.read_text().count("## λ̂ of a_b") == 2
    assert tex.read_text().count(r"\begin{table}") == 2
    assert r"\usepackage{amsmath,booktabs" in tex.read_text()
