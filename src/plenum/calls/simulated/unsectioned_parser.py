"""Parsing of a prompt without sections, as the papers' released ones are, by its lines' form."""

import re
from functools import lru_cache
from string import ascii_uppercase

from plenum.calls.chat import Chat
from plenum.calls.simulated.prompt_parser import Prompt, PromptRow, ScenarioSection

# The lines of the papers' released prompts: a seat's row, a remark, the packet's head, the seat
# itself.
_ROW = re.compile(r"^- ([^:\n]+): pref=\[([\d.,]+)\] conf=(\d+) tags=\[.*\]$", re.MULTILINE)
_REMARK = re.compile(r"^\[Round \d+ \| ([^\]\n]+)\] (.*)$", re.MULTILINE)
_PACKET = re.compile(r"^SCENARIO PACKET:\n", re.MULTILINE)
_ME = re.compile(r"^You are ([^.\n]+)\. |\"agent\":\"([^\"]+)\"", re.MULTILINE)
_OPTION = re.compile(r"^\W*(?:Option )?([A-Z])[).:]\W* ?([^:\n]+)", re.MULTILINE)
_CASE = re.compile(r"^\W*case ?\d+\W*(.+)$", re.MULTILINE | re.IGNORECASE)
# A line that names the SCENARIO_ID heads the packet, and states nothing of the case.
_FACT = re.compile(r"^(?!.*SCENARIO_ID)\W*(?:Constraint|Evidence)\W*(.+)$", re.MULTILINE)
_WORDS = re.compile(r"<=(\d+) words")


def read_unsectioned(chat: Chat) -> Prompt:
    """Take a turn's or ballot's prompt apart."""
    user = chat.messages[1].content
    rows = {match[1]: _row(match) for match in _ROW.finditer(user)}
    mandate, _, rest = user.rpartition("SCENARIO PACKET:\n")
    packet = rest[: first.start()] if (first := _ROW.search(rest)) else rest
    me = [match[1] or match[2] for match in _ME.finditer(user)]
    words = _WORDS.search(user)
    return Prompt(
        case=_parse_case(packet, len(next(iter(rows.values())).pref)),
        mandate=mandate.strip(),
        # The usual length, where a prompt names none.
        words=int(words[1]) if words else 110,
        # The last one: lines of the packet and the window, which stand before it, may begin so,
        # too.
        me=me[-1],
        arguments=tuple((match[1], match[2]) for match in _REMARK.finditer(user)),
        table=rows,
        # Ballots of the released prompts come without the packet.
        task="turn" if _PACKET.search(user) else "ballot",
        reasoned=True,
    )


@lru_cache(maxsize=64)
def _parse_case(text: str, options: int) -> ScenarioSection:
    labels = tuple(ascii_uppercase[:options])
    names = {match[1]: match[2].strip() for match in _OPTION.finditer(text)}
    facts = tuple(match.strip() for match in _FACT.findall(text))
    return ScenarioSection(
        text=text,
        labels=labels,
        names=tuple(names.get(label, f"choice {label}") for label in labels),
        # Agents quote a fact: of a packet without any its last line.
        numbers=facts or tuple(text.strip().splitlines()[-1:]) or ("the case",),
        cases=tuple(match.strip() for match in _CASE.findall(text)),
    )


def _row(match: re.Match[str]) -> PromptRow:
    return PromptRow(tuple(map(float, match[2].split(","))), float(match[3]))
