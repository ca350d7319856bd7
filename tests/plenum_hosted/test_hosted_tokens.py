"""A conversation becomes a prefix that others share and a rest, and says what it said before."""

import folders
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.calls.chat import Message
from plenum_hosted.tokens import ChatTokenizer, merge_system

MADE = folders.tokenizer()
TOKENS = ChatTokenizer(MADE)
STATIC = "## Scenario\nA port must choose. Größe 10 m – 港 🙂"


def asked(dynamic: str, *more: Message, shared: int = len(STATIC)) -> tuple[Message, ...]:
    """A turn as the committee asks for it."""
    first = Message("user", f"{STATIC}\n\n{dynamic}", shared=shared)
    return (Message("system", "You are Rights."), first, *more)


def decoded(tokens: tuple[int, ...]) -> str:
    """The text of tokens, special ones too."""
    return str(MADE.decode(list(tokens), skip_special_tokens=False))


def test_the_cut_is_where_the_shared_part_ends() -> None:
    prefix, rest = TOKENS.prompt(asked("Argue."))
    start = "<|im_start|>system\nYou are Rights.<|im_end|>\n<|im_start|>user\n"
    assert decoded(prefix) == start + STATIC
    assert decoded(rest) == "\n\nArgue.<|im_end|>\n<|im_start|>assistant\n"


def test_the_prefix_is_the_same_whatever_follows() -> None:
    repair = (Message("assistant", "no state"), Message("user", "Answer with the STATE line."))
    told = [TOKENS.prompt(asked(d, *more)) for d in ("a", " b", "\n", "é") for more in ((), repair)]
    assert len({prefix for prefix, _ in told}) == 1
    assert len({rest for _, rest in told}) == len(told)
    assert decoded(told[1][1]).count("<|im_start|>") == 3


def test_a_merged_system_message_is_shared_with_what_follows_it() -> None:
    made = ChatTokenizer(MADE)
    made.merges = True
    start = f"<|im_start|>user\nYou are Rights.\n\n{STATIC}"
    repair = (Message("assistant", "no state"), Message("user", "Answer with the STATE line."))
    for more in ((), repair):
        prefix, rest = made.prompt(asked("Argue.", *more))
        assert decoded(prefix) == start
        assert decoded(rest).startswith("\n\nArgue.<|im_end|>\n")
    alone = (Message("system", "You count."), Message("user", "A, B, A"))
    assert made.prompt(alone)[0] == ()
    assert merge_system(alone) == (Message("user", "You count.\n\nA, B, A"),)
    assert merge_system(alone[1:]) == alone[1:]


def test_without_a_shared_part_there_is_no_prefix() -> None:
    messages = (Message("system", "You count."), Message("user", "A, B, A"))
    prefix, rest = TOKENS.prompt(messages)
    assert prefix == ()
    assert decoded(rest) == TOKENS.render(messages)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0))
def test_any_text_cut_anywhere_is_whole(text: str, cut: int) -> None:
    messages = (Message("system", "s"), Message("user", text, shared=cut % (len(text) + 1)))
    prefix, rest = TOKENS.prompt(messages)
    assert decoded(prefix) + decoded(rest) == TOKENS.render(messages)
    assert rest  # its last token is what decoding begins with


@given(
    st.lists(st.sampled_from([*folders.SPECIAL, "<|im_", "end|>", "<", "x", "\n"])), st.integers(0)
)
def test_what_somebody_wrote_ends_no_message(parts: list[str], cut: int) -> None:
    text = "".join(parts)
    special = set(MADE.all_special_ids)
    for message in (
        Message("user", text, shared=cut % (len(text) + 1)),
        Message("assistant", text),
    ):
        prefix, rest = TOKENS.prompt((Message("system", text), message))
        told = [token for token in (*prefix, *rest) if token in special]
        plain = TOKENS.prompt((Message("system", "-"), Message(message.role, "-")))[1]
        assert told == [token for token in plain if token in special]


def test_a_template_that_writes_the_date_writes_the_same_every_day() -> None:
    made = folders.tokenizer()
    made.chat_template = "\n{{ strftime_now('%d %b %Y') }}" + folders.TEMPLATE
    text = ChatTokenizer(made).render((Message("user", "hello"),))
    assert text == "\n26 Jul 2024<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"


def test_a_template_that_trims_keeps_the_prefix() -> None:
    made = folders.tokenizer()
    made.chat_template = folders.TEMPLATE.replace("['content']", "['content'] | trim")
    prefix, rest = ChatTokenizer(made).prompt(
        (Message("user", f" {STATIC}\n\nArgue.\n", len(STATIC) + 1),)
    )
    assert decoded(prefix) == f"<|im_start|>user\n{STATIC}"
    assert decoded(rest).startswith("\n\nArgue.<|im_end|>")


def test_a_template_that_ends_with_the_shared_part_leaves_something_to_decode() -> None:
    made = folders.tokenizer()
    made.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    assert ChatTokenizer(made).prompt((Message("user", "abc", 3),)) == (
        (),
        tuple(made.encode("abc")),
    )


@pytest.mark.parametrize("text", ["plain", "Größe – 港 🙂", '{"decision": "A"}'])
def test_answers_are_read_back(text: str) -> None:
    tokens = MADE.encode(text, add_special_tokens=False)
    assert TOKENS.text([*tokens, MADE.eos_token_id]) == text
    assert len(TOKENS.pieces(tokens)) == len(tokens)
