"""Reports: sentences that say what the numbers say, in both formats, with everything escaped."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from known_conditions import CHOSEN, build, estimated, exponent, one_shot, perturbed, tracked

from plenum.dynamics.sample_sizes import find_detectable, power_of
from plenum.dynamics.warnings import LETTERS, WARNINGS
from plenum.reports import phrases
from plenum.reports.figures.catalogue import CATALOGUE
from plenum.reports.page.document import Block, Document, Grid, Picture, Points, Section, Text
from plenum.reports.page.renderer import render_html, render_markdown
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.reports.study import EstimatedStudy
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.provenance import Provenance
from plenum.tracking.usage import ConditionUsage
from plenum_report import comparisons
from plenum_report.compose import SECTIONS, compose, sentences
from plenum_report.material import PLACES, Material

ORIGIN = Provenance(
    models=(("Chair", "m-1"), ("Welfare", "m-2")),
    clerk="m-1",
    options="Left / Right",
    wordings="",
    versions=("0.1.0+abc",),
    begun=datetime(2026, 3, 1, tzinfo=UTC),
)
HOSTILE = "<script>alert(1)</script>[x](javascript:alert(2))|*a*_b_`c`&amp;"


def material(conditions: Sequence[TrackedCondition | Row], chosen: Settings = CHOSEN) -> Material:
    """What a report of some conditions is written from."""
    rows = [c if isinstance(c, Row) else build([c], chosen)[0] for c in conditions]
    every = [
        ConditionUsage(
            row.tracked, {"not_begun": row.pending} if row.pending else {}, None, None, {}
        )
        for row in rows
    ]
    origins = {row.tracked.run_id: ORIGIN for row in rows}
    return Material(EstimatedStudy(chosen, tuple(rows)), tuple(every), origins)


def told(
    conditions: Sequence[TrackedCondition | Row], anchor: str, chosen: Settings = CHOSEN
) -> str:
    """The sentences of a section, without its tables."""
    document = compose(material(conditions, chosen))
    return " ".join(texts(document.sections[list(SECTIONS).index(anchor)].blocks))


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
        assert not re.search(r"  | \.|\.\.", text), text
        assert text.endswith((".", ":")), text
        assert text[0].isupper() or text[0] in "λΔΓD1234567890p" or text[:1] == "_" or (
            text.split()[0] in WARNINGS
        ), text  # fmt: skip


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


def test_the_square_in_numbers() -> None:
    rows = [build([t])[0] for t in square()]
    said = told(rows, "estimates")
    most = exponent(rows[0])
    assert "estimated in all four conditions" in said
    assert f"λ̂ = {most.value:.4f} [{most.ci_low:.4f}, {most.ci_high:.4f}]" in said
    assert "largest with roles on and model uniform" in said
    assert "have λ = 0.0509, and independent jumps to another option" in said
    assert "0.1018" in said
    assert "; the data don't tell these models apart in the other three (Table" in said
    assert "λ̂ is above diffusion after Holm's adjustment in one of four: roles on" in said


@pytest.mark.parametrize(
    ("p", "value", "low", "high", "said"),
    [
        (1e-4, 0.03, 0.01, 0.05, "Growth of D(t) was shown (p = 0.0001)"),
        (1e-4, 0.03, -0.01, 0.07, "Time reversal rejects, but the interval does not exclude 0: no"),
        (1e-4, -0.2, -0.3, -0.1, "Contraction was shown (p = 0.0001)"),
        (0.3, 0.03, 0.01, 0.05, "Growth was not shown, which is not evidence that there is none"),
    ],
)
def test_growth_counts_as_shown_by_its_test_and_its_interval(
    p: float, value: float, low: float, high: float, said: str
) -> None:
    row = build([tracked(1, 0.02, 20)])[0]
    row = estimated(row, p_growth=p, value=value, ci_low=low, ci_high=high)
    text = told([row], "estimates")
    assert said in text
    assert ("was shown (" in text) is ("was shown (" in said)
    assert ("No amplification from the sign" in told([row], "limits")) is (value > 0)


def test_growth_is_adjusted_over_the_conditions() -> None:
    rows = [build([tracked(k, 0.02, 20, roles=r)])[0] for k, r in enumerate(("on", "off"))]
    rows = [estimated(r, p_growth=0.03, value=0.03, ci_low=0.01, ci_high=0.05) for r in rows]
    said = told(rows, "estimates")
    assert "Growth was not shown in either condition" in said
    assert "time reversal rejects in both" in said  # at a false discovery rate


def test_a_claim_that_few_replicates_carry_says_so() -> None:
    row = build([tracked(1, 0.02, 20)])[0]
    row = estimated(row, p_growth=1e-4, value=0.2, ci_low=0.1, ci_high=0.3, warnings=("uneven",))
    assert "This estimate carries uneven" in told([row], "estimates")
    assert "No rate where replicates jump or a few carry it." in told([row], "limits")
    assert "replicates jump, or a few make most of λ̂: they lie far" in told([row], "warnings")


def test_few_replicates_could_not_have_rejected() -> None:
    said = told([tracked(k, 0.2, 6, roles=r) for k, r in enumerate(("on", "off"))], "estimates")
    assert "With 6 replicates time reversal can't give a p below 0.031" in said


def test_contrasts_say_what_was_and_what_was_not_shown() -> None:
    found = material(square())
    said = told(square(), "tests")
    roles = [e for e in found.study.contrasts if e.name == "roles on - off"]
    shown = [e for e in roles if e.p_holm < 0.05]
    assert [e.others["model"] for e in shown] == ["uniform"]
    c = shown[0].estimate
    assert f"Δλ̂ = {c.value:.4f} [{c.ci_low:.4f}, {c.ci_high:.4f}]" in said
    assert f"is {np.exp(17 * c.value):.2f} [" in said
    assert "One contrast was not shown to differ from zero: roles on against off, at" in said
    assert "That is not evidence of no effect" in said


def test_no_contrast_is_claimed_whose_interval_holds_0() -> None:
    effects = material(square()).study.contrasts
    for effect in effects:
        wide = replace(effect.estimate, ci_low=-1.0, ci_high=1.0)
        found = comparisons.family("x", [replace(effect, estimate=wide, p_holm=0.01)])
        assert not found.shown
        assert len(found.split) == len(found.missed) == 1


def test_the_detectable_difference_has_the_power_that_is_named() -> None:
    se, n = 0.02, 20
    delta = find_detectable(se, 2 * n - 2)
    assert power_of(n, delta, se * np.sqrt(n / 2)) == pytest.approx(0.8, abs=1e-6)
    assert np.isnan(find_detectable(float("nan"), 10))
    assert np.isnan(find_detectable(0.1, 0))


def test_replicates_add_up_and_failures_are_tested() -> None:
    said = told(STUDIES["failures"], "attrition")
    assert (
        "Of 34 replicates that were wanted, 24 were completed, 10 failed and 0 are pending" in said
    )
    assert "parse (10)" in said
    assert re.search(r"(Failure goes with|No association)", said)
    said = told(STUDIES["interrupted"], "attrition")
    assert "12 are pending" in said
    assert "not begun (stopped before the first call)" in said
    assert told([tracked(1, replicates=1)], "attrition").startswith("The one replicate that was")


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (
            "interrupted",
            "There is none where the run was interrupted before its estimates: roles o",
        ),
        ("nothing completed", "no replicate was completed"),
        ("identical", "all replicates were identical in the rounds of the fit (D = 0)"),
        ("identical", "That does not prove a stable committee"),
        ("labels", "larger in condition c1"),
        ("reruns", "One further line of the table is of reruns"),
        ("wordings", "with roles on and deliberation"),
    ],
)
def test_estimates_say_what_is_missing_and_of_which_condition(study: str, said: str) -> None:
    text = told(STUDIES[study], "estimates")
    assert said in text
    if study == "reruns":  # no further evidence
        assert "adjusted" not in text


def test_wordings_are_never_called_repeats() -> None:
    found = STUDIES["wordings"]
    assert "between wordings, not between repeats" not in told(square(), "design")
    said = told(found, "estimates")
    assert "λ̂_pert is the growth rate of the distance between deliberations" in said
    assert "It lies between 2 of 9 or 0.22 [0.03, 0.60] and 5 of 9" in said
    assert "No noise level." in told(found, "limits")
    assert "Fragility was compared wording by wording in" in told(found, "tests")


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


def test_the_abstract_says_what_the_terminal_says() -> None:
    found = material(square())
    abstract = compose(found).abstract
    assert list(abstract) == sentences(found.study)  # of no simulated agents
    assert abstract[0].startswith("All four committees chose A. Repeated, none ever changed")
    for text in (_seen(render_html(compose(found))), _unmarked(render_markdown(compose(found)))):
        places = [text.index(_squeezed(words)) for words in ("Abstract", abstract[0], "Question")]
        assert places == sorted(places)


@pytest.mark.parametrize("study", ["square", "one", "wordings"])
def test_what_was_decided_is_told_before_how_runs_moved_apart(study: str) -> None:
    found = material(STUDIES[study])
    document = compose(found)
    sections = {section.anchor: section for section in document.sections}
    own = [block for block in sections["estimates"].blocks if isinstance(block, Text | Grid)]
    assert isinstance(own[0], Text)
    assert own[0].text.startswith("The flip rate is the share")
    names = [block.sheet.name for block in own if isinstance(block, Grid)]
    assert names[0] == "decisions"
    assert names.index("conditions") == len(found.decided.fragile[:1]) + 1
    methods = " ".join(texts(sections["methods"].blocks))
    assert methods.startswith("Decisions. ")
    question = " ".join(texts(sections["question"].blocks))
    assert question.index("decisions") < question.index("apart")
    places = [*PLACES]
    assert places.index("decisions") < places.index("growth")


def test_a_cell_may_break_before_an_interval_and_never_within_one() -> None:
    page = render_html(compose(material(square())))
    cells = re.findall(r"<td[^>]*>([^<]*\[[^<]*)</td>", page)
    apart = [cell for cell in cells if re.fullmatch(r"\S+ \[[^ ]+,\u00a0[^ ]+\](, \d+/\d+)?", cell)]
    assert len(apart) > 8
    assert not any(re.search(r"\[[^]]* ", cell) for cell in cells)
    assert not re.search(r"\btd[^{}]*{[^}]*nowrap", page)


def test_figures_stand_where_they_are_discussed(tmp_path: Path) -> None:
    file = tmp_path / "f.png"
    file.write_bytes(b"")
    names = [name for places in PLACES.values() for name in places]
    assert set(names) == set(CATALOGUE)
    pictures = tuple(
        Picture(at, name, (file,), f"what {name} has", "A caption.", "alt")
        for at, name in enumerate(names, 1)
    )
    document = compose(replace(material(square()), pictures=pictures))
    stand = {
        section.anchor: [block.number for block in section.blocks if isinstance(block, Picture)]
        for section in document.sections
    }
    assert [n for numbers in stand.values() for n in numbers] == list(range(1, len(names) + 1))
    assert {anchor for anchor, numbers in stand.items() if numbers} == {"estimates", "tests"}


def test_the_papers_study_is_named_with_its_departures() -> None:
    chosen = replace(CHOSEN, study="hl01_2x2")
    shorter = [replace(t, factors={**t.factors, "rounds": "8"}) for t in square()]
    said = told(shorter, "question", chosen)
    assert "Fig. 1 of “Chaotic Dynamics" in said
    assert "8 rounds instead of 20" in said
    assert "replicates a condition instead" not in said
    assert "Fig. 1" not in told(square(), "question")


def test_every_warning_is_explained() -> None:
    explained = {name for name, known in WARNINGS.items() if known.seen and known.so}
    assert LETTERS.keys() | {"identical", "short", "single", "not_converged"} <= explained
    assert all(known.short for known in WARNINGS.values())
    row = build([tracked(1)])[0]
    said = told([estimated(row, warnings=("saturated", "of_tomorrow"))], "warnings")
    assert "bent down by the ceiling" in said
    assert "of_tomorrow The estimates carry it" in said


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
            "{{ -0.5 | interval(1, 2) }}": "[−0.50, 1.00]",
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
