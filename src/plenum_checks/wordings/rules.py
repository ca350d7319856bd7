"""The force of a rule and the denials of a sentence, by its words."""

import re

_DENIAL = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|otherwise|unable|uninsured"
    r"|hardly|scarcely|barely|unless|except)\b|n't\b"
)
_NO_DENIAL = re.compile(
    r"\b(?:nothing but|not only|without (?:charge|cost|delay)|no (?:later|more|less|fewer) than)\b"
)
_FORBIDS = (
    r"forb(?:id|ids|ade|idden|idding)|prohibit\w*|ban(?:s|ned)?|bar(?:s|red)?|illegal|unlawful"
)
_OBLIGES = r"requir\w+|oblig\w+|mandatory|compulsory"
_LIMITS = r"limit(?:ed)?|cap(?:ped)?|ceiling|maximum"
_OVER = (
    r"more than|exceed\w*|surpass\w*|tops|above|beyond|in excess of|greater than|longer than"
    r"|higher than|over (?=\d)"
)
_UNDER = r"less than|fewer than|below|lower than|shorter than|under (?=\d)"
_FORCE = {
    "leave": rf"(?:\b(?:not|never|no longer)|n't) (?:be )?(?:{_FORBIDS}|{_OBLIGES}|{_LIMITS})\b"
    rf"|\bno (?:{_LIMITS}|floor|minimum)\b|\bunlimited\b|\bneed not\b|(?:\bnot|n't) have to\b",
    "ceiling": rf"\b(?:not?|never) (?:be |by )?(?:{_OVER})\b|\bat most\b|\bup to\b"
    r"|\bor (?:less|fewer)\b|\bat or below\b|\b(?:limits?|limited|caps?|capped|ceilings?)\b"
    r"|\bmaxim(?:um|al)\b",
    "floor": rf"\b(?:not?|never) (?:be |by )?(?:{_UNDER})\b|\bat least\b|\bor more\b"
    r"|\bat or above\b|\bfloors?\b|\bminim(?:um|al)\b",
    "ban": rf"\b(?:{_FORBIDS})\b|\b(?:may|must|shall|can|could) (?:not|never)\b"
    r"|\bcannot\b|\bcan't\b"
    r"|\bnot (?:be )?(?:allow(?:ed)?|permit(?:ted)?|possible)\b|\bimpossible\b"
    r"|\b(?:no|none|nobody|neither|nor)\b[^.;,]{0,60}\b(?:may|can)\b|\bno\b[^.;,]{0,60}\ballowed\b"
    r"|\b(?:may|can)\b[^.;,]{0,40}\bonly (?:after|from|if|once|when|with)\b",
    "duty": rf"\b(?:must|shall|{_OBLIGES}|demand\w*|bound to|needs? to)\b|\bha(?:ve|s|d) to\b",
}
_MAY = re.compile(r"\b(?:may|can|could|able to|allowed|permitted|possible|free to)\b")
_SOME = re.compile(r"\b(?:some|few|many|most|several)\b")
_CLAUSE = re.compile(r"[,;:]\s|\b(?:and|but|yet|while|although|whereas)\b")


def denies(text: str) -> bool:
    """Return whether a sentence denies something, by its words."""
    return _DENIAL.search(_NO_DENIAL.sub(" ", _plain(text))) is not None


def denies_more(text: str) -> bool:
    """Return whether a rule denies something apart from its force, as in "may not exceed"."""
    return any(denies(_clause(clause)[1]) for clause in _CLAUSE.split(_plain(text)))


def force(text: str) -> set[str]:
    """Return the kinds of force that a rule has, clause by clause.

    The kinds are ``ceiling``, ``floor``, ``ban``, ``duty``, ``leave``, ``excess``, ``shortfall``
    and ``part``. A ban on more than an amount is a ceiling, and a ban on less a floor: "may not
    grow by more than 3 percent" and "may grow by at most 3 percent" have one force. An amount that
    may be, must be or is exceeded is ``excess``, and a rule for some or most is ``part``.
    """
    return set().union(*(_clause(clause)[0] for clause in _CLAUSE.split(_plain(text))))


def _clause(text: str) -> tuple[set[str], str]:
    """Return the force of one clause, and the clause without the words of the force."""
    forces, left = set(), text
    for name, pattern in _FORCE.items():
        left, count = re.subn(pattern, " ", left)
        forces |= {name} if count else set()
    banned = "ban" in forces
    for words, bound, passed in ((_OVER, "ceiling", "excess"), (_UNDER, "floor", "shortfall")):
        if re.search(rf"\b(?:{words})\b", left):
            forces = (forces - {"ban"}) | {bound if banned else passed}
    if _MAY.search(left) and not forces & {"ceiling", "floor", "excess", "shortfall"}:
        forces.add("leave")
    if _SOME.search(left):
        forces.add("part")
    return forces, left


def _plain(text: str) -> str:
    return f" {text.lower()} ".replace("’", "'")
