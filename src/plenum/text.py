"""Model text as data: what a reader could see of it, and one safe line of it."""

import unicodedata
from functools import lru_cache

_ASCII_CONTROLS = {code: None for code in [*range(32), 127] if chr(code) not in "\t\n\v\f\r"}
_ASCII_SPACES = dict.fromkeys([*range(32), 127], " ")
# Marks and letters that show nothing: joiners, variation selectors, Hangul fillers.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)}
_BLANK |= {*range(0x180B, 0x180E), *range(0xE0100, 0xE01F0)}


def well_formed(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def visible(text: str) -> str:
    """The text as it looks: compatibility forms unified, invisible characters taken out."""
    if text.isascii():
        return text.translate(_ASCII_CONTROLS)
    unified = unicodedata.normalize("NFKC", text)
    return "".join(c for c in unified if c.isspace() or not _invisible(c))


def flatten(text: str) -> str:
    """One line of printable text: runs of breaks, controls and invisible characters are a space."""
    if text.isascii():
        return " ".join(text.translate(_ASCII_SPACES).split())
    return " ".join("".join(" " if _invisible(c) else c for c in text).split())


@lru_cache(maxsize=4096)
def _invisible(character: str) -> bool:
    """Controls, formats, line and paragraph separators, surrogates, and what shows nothing."""
    return (
        unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        or ord(character) in _BLANK
    )
