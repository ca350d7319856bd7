"""What the screen's patterns take from a text: rules, denials, amounts, labels, names, words."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum_checks.wordings import amounts, facts, rules

ABC = ("A", "B", "C")


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("Spending may not exceed 300 million.", "ceiling"),
        ("Spending is limited to 300 million.", "ceiling"),
        ("The law caps it at 3, the ceiling.", "ceiling"),
        ("Staff cannot grow by more than 3 percent.", "ceiling"),
        ("Growth of more than 3 percent is prohibited.", "ceiling"),
        ("Staff may grow by no more than 3 percent.", "ceiling"),
        ("Revenue may not fall below 265 million.", "floor"),
        ("Revenue must stay at or above 265 million.", "floor duty"),
        ("Every programme must receive at least 20 million.", "floor duty"),
        ("Treaty law forbids returning them.", "ban"),
        ("It is unlawful, and not permitted.", "ban"),
        ("No patient may lose cover.", "ban"),
        ("A shipment can arrive only after six weeks.", "ban"),
        ("Police must obey a warrant.", "duty"),
        ("They have to decide; the court requires it.", "duty"),
        ("It is not forbidden, and they need not ask.", "leave"),
        ("They may ask.", "leave"),
        ("They may ask, but may not insist.", "ban leave"),
        ("Housing is not limited to 3 beds.", "leave"),
        ("There is no limit of 3 beds.", "leave"),
        ("Spending may exceed the limit of 3 million.", "ceiling excess"),
        ("The budget exceeds 3 million.", "excess"),
        ("Revenue may fall below 3 million.", "shortfall"),
        ("Staff must grow by more than 3 percent, and cannot shrink.", "ban duty excess"),
        ("The budget is 24 million a year.", ""),
    ],
)
def test_the_force_of_a_rule(text: str, force: str) -> None:
    assert rules.force(text) == set(force.split())


def test_a_denial() -> None:
    for text in ("It isn't so.", "A driver without insurance.", "An uninsured driver."):
        assert rules.denies(text)
    for text in ("It gets nothing but half.", "It gets half without charge, no later than May."):
        assert not rules.denies(text)


def test_a_rule_denies_more_than_its_force() -> None:
    for text in ("Spending may not exceed 300 million.", "No patient may lose cover, nor can it."):
        assert not rules.denies_more(text)
    assert rules.denies_more("Treaty law forbids returning anyone whose risk is not proven.")
    assert rules.denies_more("Not every programme must receive at least 20 million.")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("20,000 applications in 2031, or 4.5 percent.", [20000, 2031, 4.5]),
        ("Ten of twenty-five, and forty thousand more; two hundred left.", [10, 25, 40000, 200]),
        ("40 thousand is 40,000.", [40000, 40000]),
        ("One rule; a single decision; the sole fund.", [1, 1, 1]),
        ("No one is cut off, not one, not a single.", []),
        ("Everyone, anyone, someone often weighs none.", []),
        ("It would halve that, half of it, halving halves.", ["half"] * 4),
        ("Twice as much doubles; it doubled.", ["double"] * 3),
        ("A third of it, one third, one-third; one half.", ["third"] * 3 + ["half"]),
        ("A 72-year-old in the 2,000th place.", [72, 2000]),
        ("A hundred or a thousand.", [100, 1000]),
        ("A dozen beds, two dozen wards, dozens more.", [12, 24, 12]),
        ("A fifth of it, two fifths, one-tenth.", ["fifth", 2, "fifth", "tenth"]),
        ("It would triple, treble, thrice; threefold, tenfold.", ["triple"] * 4 + ["tenfold"]),
        ("A million more; 24 million crowns; a billion.", [1e6, 24, 1e9]),
        ("Everything in order.", []),
    ],
)
def test_numbers_count_in_digits_and_in_words(text: str, numbers: list[amounts.Number]) -> None:
    assert amounts.numbers(text) == Counter(numbers)


@given(st.integers(0, 10**9), st.sampled_from(["{:,}", "{}"]))
def test_a_whole_number_is_read_with_and_without_commas(value: int, form: str) -> None:
    assert amounts.numbers(f"They paid {form.format(value)} crowns.") == Counter([value])


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("38 percent, 38 per cent, 38%", [(38, "percent")] * 3),
        ("a six-month trial of six months", [(6, "month")] * 2),
        ("286 million crowns in two months", [(286, "million"), (2, "month")]),
        (
            "9 kilometres, 60,000 hectares, 48 hours",
            [(9, "kilometre"), (60000, "hectare"), (48, "hour")],
        ),
        (
            "62 minutes, 30 seconds, 3 million tonnes",
            [(62, "minute"), (30, "second"), (3, "million")],
        ),
        ("20 crowns a day", []),
    ],
)
def test_a_unit_belongs_to_the_number_that_it_follows(
    text: str, pairs: list[tuple[float, str]]
) -> None:
    assert amounts.quantities(text) == Counter(pairs)


def test_a_currency_follows_a_number() -> None:
    assert amounts.currencies("45 billion marks, 3 crowns, a 5-dollar fee") == {
        *("mark", "crown", "dollar"),
    }
    assert amounts.currencies("A widow with marks from torture pays 3 million under A.") == set()


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("3 crowns a year", "year"),
        ("an annual fee, paid yearly, each year, per annum", "year"),
        ("monthly, or every month", "month"),
        ("weekly and daily", "week day"),
        ("next year, within twelve months", ""),
    ],
)
def test_a_text_counts_by_periods(text: str, periods: str) -> None:
    assert amounts.periods(text) == set(periods.split())


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("nearly 48 billion", [("about", 48)]),
        ("almost half, and roughly ten", [("about", "half"), ("about", 10)]),
        ("more than 6,000", [("over", 6000)]),
        ("no more than 5, up to 6, 7 beds at most", [("at most", n) for n in (5, 6, 7)]),
        ("at least 5, no fewer than 6, 7 or more", [("at least", n) for n in (5, 6, 7)]),
        ("within twelve months, before the next 3 weeks", [("within", 12), ("within", 3)]),
        ("within a period of 9 days, no later than 8 days", [("within", 9), ("within", 8)]),
        ("after 9 days, later than 8, no sooner than 7", [("after", n) for n in (9, 8, 7)]),
        ("within 8 months or later", [("within", 8), ("after", 8)]),
        ("under A 72 percent, about the cost of 3", []),
    ],
)
def test_numbers_are_bounded_and_blurred(
    text: str, bounds: list[tuple[str, amounts.Number]]
) -> None:
    assert amounts.bounds(text) == Counter(bounds)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("It costs 3 under A, 4 under B or C.", "ABC"),
        ("A trial ended. A widow is admitted under A.", "A"),
        ("B needs 2 points, and A's share is 7.", "AB"),
        ("Vitamin D and an API-only plan, grade F.", ""),
        ('He said: "A man is admitted."', "A"),  # a colon ends no sentence
    ],
)
def test_labels_stand_alone_and_an_opening_a_is_the_article(text: str, labels: str) -> None:
    assert facts.labels(text, ABC) == Counter(labels)


def test_numbers_stand_before_or_after_their_labels() -> None:
    before, _ = facts.split_numbers("It is 38 under A, 56 under B, and 45 under C.", ABC)
    assert before == {"A": {38}, "B": {56}, "C": {45}}
    _, after = facts.split_numbers("It is 38 for some: A needs 850, B 900, and C 150.", ABC)
    assert after == {"A": {850}, "B": {900}, "C": {150}}


def test_joined_labels_share_their_numbers() -> None:
    before, _ = facts.split_numbers("A clerk has 20 under A or B and 50 under C.", ABC)
    assert before == {"A": {20}, "B": {20}, "C": {50}}


def test_the_telling_side_is_where_the_numbers_differ() -> None:
    sides = facts.split_numbers("Only 900, of whom A needs 850, B 900, and C 150.", ABC)
    assert facts.select_sides(sides) == [{"A": {850}, "B": {900}, "C": {150}}]
    assert facts.select_sides(facts.split_numbers("It is 3 under A, and none under B.", ABC)) == []


def test_names_are_capitalised_in_mid_sentence() -> None:
    text = "The Republic of Velmar knows AI. Its Option A is here."
    assert facts.list_names(text) == {"Republic", "Velmar", "AI"}


def test_content_words_are_compared_by_their_first_five_letters() -> None:
    assert facts.stems("Applicants who are assessed") == {"appli", "asses"}
    assert facts.stems("An applicant, on assessment, was let in") == {"appli", "asses"}
