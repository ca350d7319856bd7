"""What the screen's patterns take from a rule."""

import pytest

from plenum.scenarios import rules


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


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("It isn't so.", True),
        ("A driver without insurance.", True),
        ("An uninsured driver.", True),
        ("It gets nothing but half.", False),
        ("It gets half without charge, and no later than May.", False),
        ("It gets half.", False),
    ],
)
def test_a_denial(text: str, denies: bool) -> None:
    assert rules.denies(text) is denies


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("Spending may not exceed 300 million.", False),
        ("No patient may lose cover, nor can it be split.", False),
        ("Treaty law forbids returning anyone whose risk is not proven.", True),
        ("Courts require no decision within twelve months.", True),
        ("Not every programme must receive at least 20 million.", True),
    ],
)
def test_a_rule_denies_more_than_its_force(text: str, denies: bool) -> None:
    assert rules.denies_more(text) is denies
