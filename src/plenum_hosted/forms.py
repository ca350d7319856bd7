"""Constrained answers: which tokens may come next, so that an answer is the object that is asked.

Each row has a :class:`Form` of its own, which sees nothing but the row's tokens, so that what it
allows never depends on other rows.
"""

import json
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from llguidance import LLTokenizer
from llguidance import hf as wrapping
from numpy.typing import NDArray

from plenum.calls.chat import AnswerSchema
from plenum_hosted.grammar import Grammar

Bits = NDArray[np.int32]
"""One bit for each token of the vocabulary, 32 in a number."""

_LATE = 0.8
"""Share of its tokens from which an argument is closed where a sentence ends. The share is plenum's
own: from an earlier end on arguments would be short, from a later one on more are cut within a
sentence."""

_SENTENCE_ENDS = tuple(mark.encode() for mark in (".", "!", "?", "。"))


class Forms:
    """The forms of one model's answers.

    Parameters
    ----------
    tokenizer
        A tokenizer of transformers.
    vocabulary
        Number of logits.
    stops
        Tokens that end an answer.

    Raises
    ------
    ValueError
        The library can't read this tokenizer.
    """

    def __init__(self, tokenizer: Any, vocabulary: int, stops: frozenset[int]) -> None:
        # The larger: networks may have logits beyond their tokens, tokenizers tokens beyond the
        # logits.
        size = max(vocabulary, len(tokenizer))
        self._reader = wrapping.from_tokenizer(tokenizer, size, sorted(stops))
        # Making a grammar takes time, and a study has few schemas.
        self._grammar = lru_cache(maxsize=256)(self._make)

    def start(self, answer: AnswerSchema, limit: int) -> "Form":
        """Start the form of an answer that may have ``limit`` tokens."""
        return Form(self._grammar(json.dumps(answer.schema)), self.tokens, limit)

    @cached_property
    def tokens(self) -> "Vocabulary":
        """The vocabulary, as the forms need it."""
        return Vocabulary(self._reader)

    def _make(self, schema: str) -> "Grammar":
        return Grammar(self._reader, json.loads(schema))


class Vocabulary:
    """The tokens' texts, as far as they matter.

    Attributes
    ----------
    texts
        The bytes of each token.
    quote
        The token of a quotation mark.
    ends
        Tokens that begin with what ends a value.
    """

    def __init__(self, reader: LLTokenizer) -> None:
        special = reader.is_special_token
        self.texts = [
            b"" if special(token) else reader.decode_bytes([token])
            for token in range(reader.vocab_size)
        ]
        self.quote = self.texts.index(b'"')
        # Rounded up to whole numbers of 32 bits, as masks are.
        ends = np.zeros(-(-reader.vocab_size // 32) * 32, dtype=bool)
        ends[: len(self.texts)] = [text[:1] in (b'"', b",", b"}", b"]") for text in self.texts]
        self.ends: Bits = np.packbits(ends, bitorder="little").view(np.int32)


class Form:
    """The form of one answer, as far as it is written.

    Free texts have the same share of the tokens each, and are closed while there are tokens for
    what has to follow: at the end of a sentence if one comes late enough, and at the latest when
    the rest needs all that are left. Numbers next to them are never cut.

    Parameters
    ----------
    grammar
        The grammar.
    tokens
        The vocabulary.
    limit
        Maximal number of tokens of the answer.

    Attributes
    ----------
    cut
        True if a free text was closed before the model did.
    """

    def __init__(self, grammar: Grammar, tokens: Vocabulary, limit: int) -> None:
        self.cut = False
        self._grammar, self._vocabulary, self._limit = grammar, tokens, limit
        self._matcher = grammar.matcher.deep_copy()
        self._bits: Bits = np.empty_like(tokens.ends)
        self._written, self._quotes, self._escaped, self._last = 0, 0, False, b""
        self._begun = 0
        self._ends = _ends(grammar, limit)

    @property
    def whole(self) -> bool:
        """True if the answer is complete, so that nothing can follow."""
        return self._matcher.is_stopped()

    def mask_allowed(self) -> Bits:
        """Return the tokens that may come next."""
        forced = self._matcher.compute_ff_tokens()
        # Only one token can follow: it needs no mask of the whole vocabulary.
        if forced:
            self._bits[:] = 0
            self._bits.view(np.uint32)[forced[0] // 32] = 1 << forced[0] % 32
            return self._bits
        bits = self._bits
        self._matcher.unsafe_compute_mask_ptr(bits.ctypes.data, bits.nbytes)
        hurried = not self._arguing and self._quotes not in self._grammar.values
        # What is left suffices just for closing: only tokens that end a value are allowed.
        if hurried and self._limit - self._written <= self._needed:
            ends = bits & self._vocabulary.ends
            return ends if ends.any() else bits
        return bits

    def take(self, token: int) -> int:
        """Go on by the chosen token; return it, or the one that has to be taken instead."""
        if self._due and not self._closes(token):
            token, self.cut = self._vocabulary.quote, True
        if not self._matcher.consume_token(token):
            raise RuntimeError(self._matcher.get_error())
        text = self._vocabulary.texts[token]
        self._written += 1
        # The longest end of a sentence has three bytes, and what stands before it is looked at.
        self._last = (self._last + text)[-4:]
        place, (self._quotes, self._escaped) = self._quotes, self._read(text)
        if place in self._ends and place != self._quotes:
            self._begun = self._written
        return token

    @property
    def _arguing(self) -> bool:
        return self._quotes in self._ends

    @property
    def _needed(self) -> int:
        least = self._grammar.least
        # Behind the last quotation mark only the end is left.
        return least[min(self._quotes, len(least) - 1)]

    @property
    def _due(self) -> bool:
        """True if the free text has to be closed here, and can be."""
        if not self._arguing or self._escaped:
            return False
        end = self._ends[self._quotes]
        if self._written < self._begun + (end - self._begun) * _LATE:
            return False
        # A point behind a digit may be a decimal's.
        ended = self._last.endswith(_SENTENCE_ENDS) and not self._last[-2:-1].isdigit()
        quote = self._vocabulary.quote
        possible = self._bits.view(np.uint32)[quote // 32] >> quote % 32 & 1
        return bool(possible) and (ended or self._written >= end)

    def _closes(self, token: int) -> bool:
        return self._read(self._vocabulary.texts[token])[0] > self._quotes

    def _read(self, text: bytes) -> tuple[int, bool]:
        """Count quotation marks up to the end of a text, but those that are escaped."""
        quotes, escaped = self._quotes, self._escaped
        for byte in text:
            quotes += byte == ord('"') and not escaped
            escaped = byte == ord("\\") and not escaped
        return quotes, escaped


def _ends(grammar: Grammar, limit: int) -> dict[int, int]:
    """Return by the place of each free text how many tokens are written where it has to end."""
    if not grammar.texts:
        return {}
    # Where tokens are few the texts have half of them: what follows is kept short, too.
    rests = [
        # an escape may have to end before
        max(grammar.least[at] + 4, min(grammar.usual[at], limit // 2), grammar.full[at])
        for at in grammar.texts
    ]
    share = (limit - rests[0]) // len(rests)
    later = range(len(rests) - 1, -1, -1)
    return {
        at: limit - rest - share * texts
        for at, rest, texts in zip(grammar.texts, rests, later, strict=True)
    }
