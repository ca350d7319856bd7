"""What the screen's patterns take from the amounts of a text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.scenarios import amounts


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
        ("9 kilometres, 60,000 hectares, 48 hours", None),
        (
            "62 minutes, 30 seconds, 3 million tonnes",
            [(62, "minute"), (30, "second"), (3, "million")],
        ),
        ("20 crowns a day", []),
    ],
)
def test_a_unit_belongs_to_the_number_that_it_follows(
    text: str, pairs: list[tuple[float, str]] | None
) -> None:
    expected = [(9, "kilometre"), (60000, "hectare"), (48, "hour")] if pairs is None else pairs
    assert amounts.quantities(text) == Counter(expected)


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
