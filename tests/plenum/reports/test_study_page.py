"""The page of a study: what it says of the design, in both formats, with everything escaped."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from known_conditions import CHOSEN, build, estimated, one_shot, perturbed, tracked

from plenum.design.settings import Protocol
from plenum.dynamics.sample_sizes import find_detectable, power_of
from plenum.dynamics.warnings import LETTERS, WARNINGS
from plenum.reports.figures.catalogue import SavedFigure
from plenum.reports.findings.sentences import write_findings
from plenum.reports.page.study import PageMaterial, compose
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.show import phrases
from plenum.show.document import Block, Document, Grid, Picture, Points, Section, Text
from plenum.show.renderer import render_html, render_markdown
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.provenance import Provenance
from plenum.tracking.usage import ConditionUsage

ORIGIN = Provenance(
    models=(("Chair", "m-1"), ("Welfare", "m-2")),
    clerk="m-1",
    options="Left / Right",
    wordings="",
    versions=("0.1.0+abc",),
    begun=datetime(2026, 3, 1, tzinfo=UTC),
)
HOSTILE = "<script>alert(1)</script>[x](javascript:alert(2))|*a*_b_`c`&amp;"


def material(
    conditions: Sequence[TrackedCondition | Row], chosen: Settings = CHOSEN
) -> PageMaterial:
    """What the page of some conditions is made of."""
    rows = [c if isinstance(c, Row) else build([c], chosen)[0] for c in conditions]
    every = [
        ConditionUsage(
            row.tracked, {"not_begun": row.pending} if row.pending else {}, None, None, {}
        )
        for row in rows
    ]
    origins = {row.tracked.run_id: ORIGIN for row in rows}
    return PageMaterial(EstimatedStudy(chosen, tuple(rows)), tuple(every), origins)


def told(
    conditions: Sequence[TrackedCondition | Row], anchor: str, chosen: Settings = CHOSEN
) -> str:
    """The sentences of a section, without its tables."""
    sections = {s.anchor: s for s in compose(material(conditions, chosen)).sections}
    return " ".join(texts(sections[anchor].blocks))


def texts(blocks: Sequence[Block]) -> list[str]:
    found = []
    for block in blocks:
        if isinstance(block, Text):
            found.append(block.text)
        elif isinstance(block, Points):
            found += [f"{lead} {text}".strip() for lead, text in block.items]
        elif isinstance(block, Picture):
            found.append(block.caption)
    return found


def square() -> list[TrackedCondition]:
    cells = [("on", "uniform"), ("on", "mixed"), ("off", "uniform"), ("off", "mixed")]
    rates = (0.3, 0.02, 0.0, 0.02)
    return [
        tracked(key, rate, 20, roles=roles, model=model)
        for key, ((roles, model), rate) in enumerate(zip(cells, rates, strict=True))
    ]


def still(key: int, **factors: str) -> TrackedCondition:
    """A condition all of whose replicates are the same."""
    return tracked(key, preferences=np.full((12, 20, 5, 3), 1 / 3), **factors)


STUDIES: dict[str, list[TrackedCondition]] = {
    "square": square(),
    "one": [tracked(1)],
    "a single replicate": [tracked(1, replicates=1)],
    "identical": [still(1, roles="on"), still(2, roles="off"), tracked(3, roles="ablate_chair")],
    "nothing completed": [
        replace(tracked(1, failed=2, pending=3), completed=0, preferences=np.empty((0, 0, 0, 0)),
                decisions=(), target=5),
    ],
    "interrupted": [
        tracked(1, roles="on", pending=4),
        replace(tracked(2, roles="off", pending=8), preferences=np.empty((0, 0, 0, 0)),
                decisions=()),
    ],
    "failures": [tracked(1, roles="on", failed=9), tracked(2, roles="off", failed=1)],
    "wordings": [
        perturbed(1, "AAABBAAAAA", roles="on"),
        perturbed(2, "ABABBABBAA", roles="off"),
        one_shot(3, "AAABBAABAA", roles="on"),
    ],
    "no canonical": [perturbed(1, "AAABBAAAAA", missing=(0,))],
    "votes": [one_shot(3, "AAABBAABAA", roles="on"), one_shot(4, "AAAAAAAAAA", roles="off")],
    "scenarios": [
        tracked(10 * s + r, 0.02, roles=roles, scenario=scenario)
        for s, scenario in enumerate(("HL-01", "IM-01", "SP-01"))
        for r, roles in enumerate(("on", "off"))
    ],
    "short": [tracked(1, rounds=3, roles="on"), tracked(2, rounds=2, roles="off")],
    "labels": [tracked(1), tracked(2)],
    "reruns": [tracked(1), tracked(1, settings="rerun=1")],
    "seeds": [tracked(1, seed="0", backend="api"), tracked(2, seed="1", backend="hosted")],
}  # fmt: skip
for _row in (0, 1):  # four options; two seats
    _wide = np.random.default_rng(_row).dirichlet(np.ones(4), size=(8, 12, 2))
    STUDIES.setdefault("four options", []).append(
        replace(
            tracked(_row, 0.02, 8, preferences=_wide, roles=("on", "off")[_row]),
            seats=("First", "Second"),
        )
    )


SECTIONS = (
    *("design", "protocol", "attrition", "decisions", "growth", "tests", "warnings", "limits"),
    *("methods", "references", "runs"),
)


@pytest.fixture(scope="module", params=STUDIES, ids=str)
def document(request: pytest.FixtureRequest) -> Document:
    return compose(material(STUDIES[request.param]))


def test_every_study_has_every_section(document: Document) -> None:
    assert [(section.number, section.anchor) for section in document.sections] == [
        *enumerate(SECTIONS, start=1)
    ]
    assert all(section.blocks for section in document.sections)


def test_sentences_are_well_formed(document: Document) -> None:
    for text in (t for section in document.sections for t in texts(section.blocks)):
        assert not re.search(r"\b1 (?!of\b)[a-z]+s\b(?! a)", text), text
        assert not re.search(r"\b(nan|inf|no of|all one|all two)\b|None(?! of)", text), text
        assert not re.search(r"  | \.|\.\.|\b1 [a-z]+s\b", text), text
        assert text.endswith((".", ":")), text
        assert (
            text[0].isupper() or text[0].isdigit() or text[0] in "λ[" or text.split()[0] in WARNINGS
        ), text


def test_tables_are_numbered_in_the_order_in_which_they_stand(document: Document) -> None:
    blocks = [block for section in document.sections for block in section.blocks]
    numbers = [block.number for block in blocks if isinstance(block, Grid)]
    assert numbers == list(range(1, len(numbers) + 1))
    named = {int(n) for b in blocks for t in texts([b]) for n in re.findall(r"Table (\d+)", t)}
    assert named <= set(numbers)


def test_html_and_markdown_say_the_same(document: Document) -> None:
    page, text = _seen(render_html(document)), _unmarked(render_markdown(document))
    for section in document.sections:
        for own in texts(section.blocks):
            assert _squeezed(own) in page, own
            assert _squeezed(own) in text, own
        for block in section.blocks:
            if isinstance(block, Grid):
                for cell in (c for line in block.sheet.body for c in line):
                    assert _squeezed(cell) in page
                    assert _squeezed(cell) in text


def test_the_abstract_says_what_the_terminal_says() -> None:
    found = material(square())
    abstract = compose(found).abstract
    assert list(abstract) == write_findings(found.study)  # of no simulated agents
    assert abstract[0].startswith("All four committees chose A. Repeated, none ever changed")


def committee(mandates: Sequence[str], **protocol: object) -> object:
    """A condition as it is rebuilt, with as many seats as it has mandates."""
    seats = [
        SimpleNamespace(name=name, label=name, mandate=mandate, model="m")
        for name, mandate in zip(("Chair", "Welfare"), mandates, strict=True)
    ]
    return SimpleNamespace(
        seats=seats,
        speaking_order=seats[::-1],
        scenario=SimpleNamespace(title="Water", question="Who gets it?"),
        protocol=Protocol(**protocol),
        sampling=SimpleNamespace(max_tokens=400),
        constrained=False,
    )


def test_the_protocol_has_seats_in_speaking_order_and_what_each_level_means() -> None:
    studied = [tracked(n, roles=roles, memory=m) for n, (roles, m) in enumerate(
        (("on", "k15"), ("off", "k15"), ("ablate_chair", "k3"))
    )]  # fmt: skip
    found = material(studied)
    mandates = {"r0": ("Lead.", "Care for " + "all " * 40), "r1": ("", ""), "r2": ("", "Care.")}
    rebuilt = {run: committee(texts) for run, texts in mandates.items()}
    sections = {s.anchor: s for s in compose(replace(found, rebuilt=rebuilt)).sections}
    (design,) = [b.sheet for b in sections["design"].blocks if isinstance(b, Grid)]
    meant = {(factor, level): meaning for factor, level, _, meaning in design.body}
    assert meant["roles", "on"] == "every seat argues from its mandate"
    assert meant["roles", "off"] == "no seat has a mandate"
    assert meant["roles", "ablate_chair"] == "no mandate for Chair"
    assert meant["memory", "k3"] == "a turn shows the committee's last three arguments"
    assert meant["scenario", "HL-01"].startswith("Water. Who gets it? Options: Left / Right")
    (seats,) = [b.sheet for b in sections["protocol"].blocks if isinstance(b, Grid)]
    assert [line[:3] for line in seats.body] == [("1", "Welfare", "m-2"), ("2", "Chair", "m-1")]
    assert seats.body[0][3].startswith("Care for all all")
    assert len(seats.body[0][3]) <= 90
    assert seats.body[1][3] == "Lead."
    said = " ".join(texts(sections["protocol"].blocks))
    assert "the committee's last 3 to 15 arguments and a table of all seats' last states" in said
    assert "An option with more than half of the ballots is the decision" in said
    assert "The target is 12 replicates a condition, drawn from seed 0." in said


@pytest.mark.slow
def test_a_committee_that_no_text_rebuilds_has_seats_and_models_alone() -> None:
    sections = {s.anchor: s for s in compose(material(square())).sections}
    (seats,) = [b.sheet for b in sections["protocol"].blocks if isinstance(b, Grid)]
    assert [line[:2] for line in seats.body] == [("1", "Chair"), ("2", "Welfare")]
    assert seats.head == ("turn", "seat", "model uniform", "model mixed")
    assert "ballots" not in told(square(), "protocol")


def test_growth_says_what_walks_and_jumps_would_give() -> None:
    said = told(square(), "growth")
    assert "have λ = 0.0509, and independent jumps to another option, at a constant" in said
    assert "0.1018" in said
    few = told([tracked(k, 0.2, 6, roles=r) for k, r in enumerate(("on", "off"))], "growth")
    assert "With 6 replicates time reversal can't give a p below 0.031" in few


@pytest.mark.slow
def test_contrasts_say_what_would_have_been_found_and_how_often_D_grew() -> None:
    shown = [e for e in material(square()).study.contrasts if e.p_holm < 0.05]
    said = told(square(), "tests")
    for effect in shown:
        assert f"D grew {np.exp(17 * effect.estimate.value):.2f} [" in said
    assert "would have found" in said


def test_the_detectable_difference_has_the_power_that_is_named() -> None:
    se, n = 0.02, 20
    delta = find_detectable(se, 2 * n - 2)
    assert power_of(n, delta, se * np.sqrt(n / 2)) == pytest.approx(0.8, abs=1e-6)
    assert np.isnan(find_detectable(float("nan"), 10))
    assert np.isnan(find_detectable(0.1, 0))


def test_replicates_add_up() -> None:
    said = told(STUDIES["failures"], "attrition")
    assert "34 replicates were wanted: 24 completed, 10 failed, 0 pending" in said
    said = told(STUDIES["interrupted"], "attrition")
    assert "12 pending" in said


@pytest.mark.slow
def test_what_is_simulated_says_so_first() -> None:
    made = [replace(t, simulated=True) for t in square()]
    document = compose(material(made))
    assert document.notice.startswith("All agents were simulated: no language model answered.")
    page, text = render_html(document), render_markdown(document)
    assert page.count("no evidence about language models") == 1
    assert text.count("no evidence about language models") == 1
    assert "Nothing about language models." in told(made, "limits")
    real = [replace(t, factors={**t.factors, "backend": "api"}) for t in square()]
    assert compose(material(real)).notice == ""
    assert "Nothing about language models." not in told(real, "limits")
    assert "Temperature 0 does not make a provider's answers deterministic" in told(real, "limits")


def test_figures_stand_where_they_are_discussed(tmp_path: Path) -> None:
    file = tmp_path / "f.png"
    file.write_bytes(b"")
    stands = {"decisions": "decisions", "of_another_package": "decisions", "null": "growth",
              "semantic": "growth", "branching": "growth", "forest": "tests"}  # fmt: skip
    drawn = [
        SavedFigure(name, f"what {name} has", [file], f"Caption of {name}.") for name in stands
    ]
    document = compose(material(square()), drawn)
    found = [
        (block.name, section.anchor)
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Picture)
    ]
    assert found == list(stands.items())
    page = render_html(document)
    assert all(page.count(f"Caption of {name}.") == 1 for name in stands)


@pytest.mark.slow
def test_the_papers_study_is_named_with_its_departures() -> None:
    chosen = replace(CHOSEN, study="hl01_2x2")
    shorter = [replace(t, factors={**t.factors, "rounds": "8"}) for t in square()]
    said = told(shorter, "design", chosen)
    assert "after Fig. 1 of [2]" in said
    assert "8 rounds instead of 20" in said
    assert "replicates a condition instead" not in said
    assert "Fig. 1" not in told(square(), "design")
    assert "[2] H. Shimao" in told(square(), "references")


def test_every_warning_is_explained() -> None:
    explained = {name for name, known in WARNINGS.items() if known.seen and known.so}
    assert LETTERS.keys() | {"identical", "short", "single"} <= explained
    assert all(known.short for known in WARNINGS.values())
    row = build([tracked(1)])[0]
    said = told([estimated(row, warnings=("saturated", "of_tomorrow"))], "warnings")
    assert "bent down by the ceiling" in said
    assert "of_tomorrow The estimates carry it" in said


@pytest.mark.slow
def test_a_cell_may_break_before_an_interval_and_never_within_one() -> None:
    page = render_html(compose(material(square())))
    cells = re.findall(r"<td[^>]*>([^<]*\[[^<]*)</td>", page)
    apart = [cell for cell in cells if re.fullmatch(r"\S+ \[[^ ]+,\u00a0[^ ]+\](, \d+/\d+)?", cell)]
    assert len(apart) > 8
    assert not any(re.search(r"\[[^]]* ", cell) for cell in cells)
    assert not re.search(r"\btd[^{}]*{[^}]*nowrap", page)


def test_hostile_names_are_text() -> None:
    chosen = replace(CHOSEN, study=HOSTILE)
    found = compose(material([tracked(1, scenario=HOSTILE), tracked(2, scenario="x")], chosen))
    page, text = render_html(found), render_markdown(found)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 5
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(", text)
    assert _squeezed(HOSTILE) in _seen(page)
    assert _squeezed(HOSTILE) in _unmarked(text)


def test_the_page_runs_and_fetches_nothing(tmp_path: Path) -> None:
    svg = tmp_path / "d.svg"
    svg.write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    picture = Picture(1, "d", (svg,), "D(t)", 'A "caption".', 'D(t) of <b>"all"</b>')
    page = render_html(Document("t", "l", "", (Section(1, "figures", "Figures", (picture,)),)))
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "<script" not in page
    assert "unsafe-inline" not in page
    assert "http://" not in page
    assert 'src="data:image/svg+xml;base64,' in page
    assert 'alt="D(t) of &lt;b&gt;&#34;all&#34;&lt;/b&gt;"' in page


def test_filters_write_counts_lists_and_numbers() -> None:
    long = [f"c{k}" for k in range(9)]
    written = {
        **{"{{ 0 | count('case') }}": "no cases", "{{ 1 | count('case') }}": "one case"},
        **{"{{ 9 | count('case') }}": "nine cases", "{{ 1200 | count('case') }}": "1,200 cases"},
        **{"{{ 2 | of_all(2) }}": "both", "{{ 3 | of_all(3) }}": "all three"},
        **{"{{ 0 | of_all(12) }}": "none of 12", "{{ 1 | of_all(1) }}": "one of one"},
        **{"{{ ['a'] | join_items }}": "a", "{{ ['a', 'b', 'c'] | join_items }}": "a, b and c"},
        "{{ ['a, b', 'c'] | join_items }}": "a, b; and c",
        **{"{{ 0.00001 | p_value }}": "p < 0.0001", "{{ 0.0051 | p_value }}": "p = 0.0051"},
        **{"{{ 0.049 | p_value }}": "p = 0.049", "{{ nan | p_value }}": "p doesn't exist"},
        **{
            "{{ -0.5 | interval(1, 2) }}": "[-0.50, 1.00]",
            "{{ nan | interval(1) }}": "[no interval]",
        },
        "{{ long | names('Table 2') }}": "c0; c1; c2; c3; c4; c5; and 3 more (Table 2)",
    }
    render = phrases.make_environment().overlay(autoescape=False).from_string
    found = {text: render(text).render(nan=float("nan"), long=long) for text in written}
    assert found == written


class _Reader(HTMLParser):
    """The text that a page shows."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._skip = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._skip = tag == "style"
        self.text += " " * (tag in ("br", "td", "th", "p", "li"))

    def handle_data(self, data: str) -> None:
        self.text += "" if self._skip else data


def _seen(page: str) -> str:
    reader = _Reader()
    reader.feed(page)
    return _squeezed(reader.text)


def _unmarked(text: str) -> str:
    """Markdown as its reader sees it."""
    text = re.sub(r"(?<!\\)\*\*|<br>", " ", text)
    text = re.sub(r"\\([\\`*<>|~$_\[\]])", r"\1", text)
    return _squeezed(text.replace("&lt;", "<").replace("&amp;", "&"))


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("\u00a0", " "))
