"""Text from outside as data: what a reader could see of it, and what is safe to keep and print."""

import unicodedata
from functools import lru_cache

HIDDEN = "\u200b"
"""What :func:`unmasked` writes for every character that shows nothing."""

_CONTROLS = [*range(32), 127]
_SPACES = "\t\n\v\f\r"
_ASCII_HIDDEN = {code: HIDDEN for code in _CONTROLS if chr(code) not in _SPACES}
_ASCII_SPACES = dict.fromkeys(_CONTROLS, " ")
_ASCII_REPLACED = {code: "\ufffd" for code in _CONTROLS if chr(code) not in "\t\n"}
# Marks, letters and unassigned characters that show nothing: joiners, variation selectors, Hangul
# fillers, the blank Braille pattern, and what Unicode keeps free for more of them.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0}
_BLANK |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9)}
_BLANK |= {*range(0xE0000, 0xE1000)}


def well_formed(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def lines(text: str) -> list[str]:
    r"""The lines of a text, without what ends them.

    A line ends at any of Unicode's line breaks: LF, CR, CR LF, VT, FF, U+001C to U+001E, U+0085,
    U+2028 and U+2029. Each of them is white space or :data:`HIDDEN` to :func:`unmasked`, so that
    nothing begins a line without being seen at the beginning of a word.
    """
    return text.splitlines()


def unmasked(text: str) -> str:
    """The text with compatibility forms unified, and :data:`HIDDEN` for all that shows nothing.

    A character that shows nothing may join what is beside it or part it, by who reads it: a pattern
    that is to be found in spite of it allows :data:`HIDDEN` anywhere. What was unified is followed
    by one, since it is no plain letter that could go on in a word.
    """
    if text.isascii():
        return text.translate(_ASCII_HIDDEN)
    return "".join(c if c.isalnum() and c.isascii() else _unmasked(c) for c in text)


def visible(text: str) -> str:
    """The text as it looks: compatibility forms unified, what shows nothing taken out."""
    return unmasked(text).replace(HIDDEN, "")


def parted(text: str) -> str:
    """The text with a space for every character that shows nothing; white space stays."""
    return "".join(" " if _invisible(c) else c for c in text)


def flatten(text: str) -> str:
    """One line of printable text: runs of breaks, controls and invisible characters are a space."""
    if text.isascii():
        return " ".join(text.translate(_ASCII_SPACES).split())
    return " ".join(parted(text).split())


def printable(text: str) -> str:
    """What a terminal may show: U+FFFD stands for all controls but line breaks and tabs.

    Escape sequences, carriage returns, halves of surrogate pairs, and characters that show nothing
    or turn the direction of writing are replaced too.
    """
    if text.isascii():
        return text.translate(_ASCII_REPLACED)
    return "".join("\ufffd" if _invisible(c) or c in "\v\f\r" else c for c in text)


@lru_cache(maxsize=4096)
def _unmasked(character: str) -> str:
    if _invisible(character):
        return HIDDEN
    unified = unicodedata.normalize("NFKC", character)
    return unified if unified == character else f"{unified}{HIDDEN}"


@lru_cache(maxsize=4096)
def _invisible(character: str) -> bool:
    """Controls, formats, line and paragraph separators, surrogates, and what shows nothing."""
    return character not in _SPACES and (
        unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        or ord(character) in _BLANK
    )
