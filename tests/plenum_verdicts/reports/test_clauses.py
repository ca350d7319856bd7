"""The pages of audits name the section that answers each requirement, if they have it."""

from plenum_verdicts.reports import page
from plenum_verdicts.reports.clauses import compose_sections, map_clauses


def test_a_whole_page_answers_every_requirement_by_its_own_sections() -> None:
    where = map_clauses(page.SECTIONS).frame["where"]
    assert len(where) == 8
    assert {title for line in where for title in line.split("; ")} <= set(page.SECTIONS.values())


def test_what_a_page_lacks_is_said_to_be_lacking() -> None:
    frame = map_clauses({"verdict": "Verdict"}).frame.set_index("requirement")
    assert frame["where"]["NIST AI RMF, MEASURE 2.5"] == "Verdict"
    assert frame["where"]["ISO 5725, reproducibility"] == "not measured here"


def test_the_table_stands_where_the_titles_say_and_is_numbered_last() -> None:
    written = {"record": ("text",), "verdict": ("text",), "cases": ()}
    sections = compose_sections(written, page.SECTIONS, tables=3)  # type: ignore[arg-type]
    assert [each.anchor for each in sections] == ["verdict", "clauses", "record"]
    assert [each.number for each in sections] == [1, 2, 3]
    assert sections[1].blocks[0].number == 4  # type: ignore[union-attr]
