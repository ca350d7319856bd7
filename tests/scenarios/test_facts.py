"""What the screen's patterns take from a text: labels, names, content words."""

from collections import Counter

import pytest

from plenum.scenarios import facts

ABC = ("A", "B", "C")


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
    before, _ = facts.allotted("It is 38 under A, 56 under B, and 45 under C.", ABC)
    assert before == {"A": {38}, "B": {56}, "C": {45}}
    _, after = facts.allotted("It is 38 for some: A needs 850, B 900, and C 150.", ABC)
    assert after == {"A": {850}, "B": {900}, "C": {150}}


def test_joined_labels_share_their_numbers() -> None:
    before, _ = facts.allotted("A clerk has 20 under A or B and 50 under C.", ABC)
    assert before == {"A": {20}, "B": {20}, "C": {50}}


def test_the_telling_side_is_where_the_numbers_differ() -> None:
    sides = facts.allotted("Only 900, of whom A needs 850, B 900, and C 150.", ABC)
    assert facts.telling(sides) == [{"A": {850}, "B": {900}, "C": {150}}]
    assert facts.telling(facts.allotted("It is 3 under A, and none under B.", ABC)) == []


def test_names_are_capitalised_in_mid_sentence() -> None:
    text = "The Republic of Velmar knows AI. Its Option A is here."
    assert facts.capitalised(text) == {"Republic", "Velmar", "AI"}


def test_content_words_are_compared_by_their_first_five_letters() -> None:
    assert facts.stems("Applicants who are assessed") == {"appli", "asses"}
    assert facts.stems("An applicant, on assessment, was let in") == {"appli", "asses"}
