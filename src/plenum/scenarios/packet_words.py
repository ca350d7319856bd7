"""The words of a packet, without its formatting."""

import re


def strip_list_marks(packet: str) -> str:
    """Remove list marks: bullets, and numbers at line starts that count up from 1."""
    lines, last = [], 0
    for line in packet.splitlines():
        bare = re.sub(r"^\s*[-*•–>]\s+", "", line)
        numbered = re.match(r"\s*\(?(\d+)[.)]\s+", bare)
        if numbered and int(numbered[1]) in (1, last + 1):
            last = int(numbered[1])
            bare = bare[numbered.end() :]
        lines.append(bare)
    return "\n".join(lines)


def split_words(packet: str) -> list[str]:
    """Split a packet into its words, in small letters and without its formatting."""
    return re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[+%$€£]", strip_list_marks(packet).lower())
