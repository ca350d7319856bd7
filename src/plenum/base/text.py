"""Text from outside as data: what a reader could see of it, and what is safe to keep and print."""

import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

HIDDEN = "\u200b"
"""The replacement that :func:`unmask` writes for every invisible character."""

_CONTROLS = [*range(32), 127]
_SPACES = "\t\n\v\f\r"
_ASCII_HIDDEN = {code: HIDDEN for code in _CONTROLS if chr(code) not in _SPACES}
_HIDDEN_BYTES = bytes(_ASCII_HIDDEN)
_BLANKED_BYTES = bytes.maketrans(bytes(_CONTROLS), b" " * len(_CONTROLS))
_ASCII_REPLACED = {code: "\ufffd" for code in _CONTROLS if chr(code) not in "\t\n"}
# Marks, letters and unassigned characters that show nothing: joiners, variation selectors, Hangul
# fillers, the blank Braille pattern, and what Unicode keeps free for more of them.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0}
_BLANK |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9)}
_BLANK |= {*range(0xE0000, 0xE1000)}


def replace_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def split_lines(text: str) -> list[str]:
    """Split a text into lines, without their ends.

    A line ends at any of Unicode's line breaks: LF, CR, CR LF, VT, FF, U+001C to U+001E, U+0085,
    U+2028 and U+2029. Each of them is white space or :data:`HIDDEN` to :func:`unmask`, so that
    nothing begins a line without being seen at the beginning of a word.
    """
    return text.splitlines()


def unmask(text: str) -> str:
    """Unify compatibility forms, and replace every invisible character by :data:`HIDDEN`.

    An invisible character may join or separate its neighbours, depending on the reader, so a
    pattern that is to match in spite of it allows :data:`HIDDEN` anywhere. A character that was
    unified is followed by one, since it is no plain letter that could continue a word.
    """
    if text.isascii():
        data = text.encode()  # bytes are looked through several times as fast as a text
        plain = len(data.translate(None, _HIDDEN_BYTES)) == len(data)
        return text if plain else text.translate(_ASCII_HIDDEN)
    return "".join(c if c.isalnum() and c.isascii() else _unmask(c) for c in text)


def visible_text(text: str) -> str:
    """Return the text as it looks: compatibility forms unified, invisible characters removed."""
    return unmask(text).replace(HIDDEN, "")


def blank_invisible(text: str) -> str:
    """Replace every invisible character by a space; white space stays."""
    return "".join(" " if _invisible(c) else c for c in text)


def flatten(text: str) -> str:
    """Join a text to one printable line.

    Runs of breaks, controls and invisible characters become one space.
    """
    if text.isascii():
        return " ".join(text.encode().translate(_BLANKED_BYTES).decode().split())
    return " ".join(blank_invisible(text).split())


def make_printable(text: str) -> str:
    """Replace all that a terminal may not show by U+FFFD, except line breaks and tabs.

    These are control characters, escape sequences, carriage returns, halves of surrogate pairs, and
    characters that are invisible or turn the direction of writing.
    """
    if text.isascii():
        return text.translate(_ASCII_REPLACED)
    return "".join("\ufffd" if _invisible(c) or c in "\v\f\r" else c for c in text)


def join_first(values: Sequence[str], most: int = 6) -> str:
    """List the first values, and count the others."""
    more = f", and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(values[:most]) + more


@lru_cache(maxsize=4096)
def format_duration(seconds: float) -> str:
    """Format a time in seconds, rounded up, as ``M:SS min`` or ``H:MM:SS h``.

    Examples
    --------
    >>> format_duration(61.2)
    '1:02 min'
    """
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"


def _unmask(character: str) -> str:
    if _invisible(character):
        return HIDDEN
    unified = unicodedata.normalize("NFKC", character)
    return unified if unified == character else f"{unified}{HIDDEN}"


@lru_cache(maxsize=4096)
def _invisible(character: str) -> bool:
    """Return whether it is a control, format, line or paragraph separator, surrogate or blank."""
    return character not in _SPACES and (
        unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        or ord(character) in _BLANK
    )
