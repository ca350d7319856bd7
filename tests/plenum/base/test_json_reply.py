"""JSON objects in replies: what each strictness takes and refuses, and why."""

import pytest

from plenum.base.json_reply import read_object


class Refused(ValueError):
    """Raised by a reader of these tests."""


def test_an_object_is_read_in_a_fence_or_without() -> None:
    for text in ('{"a": 1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```'):
        assert read_object(text, {"a"}, Refused) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1", "no JSON object"),
        ('{"a": 1} and more', "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ('{"a": ' + "9" * 5000 + "}", "no JSON object"),
        ("[1]", "the object needs exactly a"),
        ("{}", "the object needs exactly a"),
        ('{"a": 1, "b": 2}', "the object needs exactly a"),
        ('{"a": 1, "a": 1}', "a key stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "a key stands twice"),
    ],
)
def test_anything_else_is_refused_as_the_caller_s_error(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        read_object(text, {"a"}, Refused)


def test_other_keys_and_constants_are_taken_where_the_form_allows_them() -> None:
    text = '{"a": NaN, "b": 2}'
    read = read_object(text, {"a"}, Refused, closed=False)
    assert (str(read["a"]), read["b"]) == ("nan", 2)
    with pytest.raises(Refused, match="NaN is no number"):
        read_object(text, {"a"}, Refused, closed=False, finite=True)
