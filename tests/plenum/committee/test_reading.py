"""The lenient reader: each form that it accepts, beside a neighbour that it refuses."""

import re
from contextlib import suppress
from random import Random
from typing import Any

import pytest
import strict_reading
from hypothesis import given
from hypothesis import strategies as st

from plenum.base.reasoning import split_reasoning
from plenum.committee.ballots import Ballot, Count
from plenum.committee.state import Malformed, State, parse_answer
from plenum.committee.state_reading import read_answer
from plenum.committee.vote_reading import read_ballot, read_count

LABELS = ("A", "B", "C")
OTHERS = ("Chair", "Welfare")
SAID = "The second measure keeps the burden even."
PLAIN = 'STATE: pref=[0.20,0.30,0.50]; conf=70; tags=["fair_process","cost_control"]'
MEANT = State((0.2, 0.3, 0.5), 70, ("fair_process", "cost_control"))
PREF, CONF, TAGS = "pref=[0.20,0.30,0.50]", "conf=70", 'tags=["fair_process","cost_control"]'


def pref(text: str) -> str:
    return PLAIN.replace(PREF, text)


def conf(text: str) -> str:
    return PLAIN.replace(CONF, text)


def tags(text: str) -> str:
    return PLAIN.replace(TAGS, text)


OBJECT = '{"pref":[0.2,0.3,0.5],"conf":70,"tags":["fair_process","cost_control"]}'
STATES = {
    # what a person reads as one state | its neighbour, which has another meaning or two
    f"**{PLAIN[:6]}**{PLAIN[6:]}": f"**{PLAIN}** and so on",
    f"**{PLAIN}**": f"**{PLAIN}**\n**{conf('conf=71')}**",
    f"- {PLAIN}": f"- {PLAIN}\n- {conf('conf=60')}",
    f"* {PLAIN}": f"* {pref('pref=[0.20,0.30]')}",
    f"1. {PLAIN}": f"1. {PLAIN} 2. {PLAIN}",
    f"> {PLAIN}": f"> {PLAIN} said the Chair",
    f"### {PLAIN}": f"### {pref('pref=[]')}",
    f"`{PLAIN}`": f"`{conf('conf=')}`",
    f"_{PLAIN}_": f"_{conf('conf=high')}_",
    f"```\n{PLAIN}\n```": f"```\n{PLAIN}\n{conf('conf=10')}\n```",
    f"```text\n**State:** {PLAIN[7:]}\n```": f"```text\n{pref('pref=[a,b,c]')}\n```",
    f'"{PLAIN}"': f'"{PLAIN}" is wrong',
    f"({PLAIN})": f"({PLAIN}; conf=80)",
    PLAIN.replace("STATE", "State"): PLAIN.replace("STATE", "State").replace("pref=", "p="),
    PLAIN.replace("STATE", "state"): PLAIN.replace("STATE: ", "state of things 20 "),
    PLAIN.replace("STATE:", "STATE ="): PLAIN.replace("STATE:", "Example: STATE:"),
    PLAIN.replace("STATE:", "STATE"): PLAIN.replace("STATE", "Rejected"),
    PLAIN.replace("STATE:", "STATE :"): PLAIN.replace("STATE:", "STATE is not"),
    PLAIN.replace("STATE:", "STATE："): PLAIN.replace("STATE:", "Previous: STATE:"),
    PLAIN.replace("STATE", "ESTADO"): PLAIN.replace("STATE", "Welfare"),
    PLAIN.replace("STATE", "Zustand"): PLAIN.replace("STATE", "Chair"),
    PLAIN.replace("STATE", "状态"): PLAIN.replace("STATE:", "Welfare: STATE:"),
    PLAIN.replace("STATE: ", ""): CONF + "; " + TAGS,
    PLAIN + ".": PLAIN + " (0.10 for A)",
    PLAIN + "<|eot_id|>": PLAIN + "<|eot_id|>Welfare",
    PLAIN + "</s>": PLAIN + "</s>\n" + conf("conf=1"),
    PLAIN + "<|im_end|>\n": PLAIN + " 70<|im_end|>\n",
    "My answer. " + PLAIN: "I reject " + PLAIN,
    "Final state:\n" + PLAIN: "If I were Chair, " + PLAIN,
    PLAIN + "\n" + PLAIN: PLAIN + "\n" + conf("conf=69"),
    "I keep to the form STATE: pref=[...].\n" + PLAIN: "STATE: pref=[0.1].\n" + PLAIN,
    PLAIN.replace("; ", ", "): PLAIN.replace("; ", " and "),
    PLAIN.replace("; ", " "): PLAIN.replace("; ", "; no; "),
    PLAIN.replace("; ", " | "): PLAIN.replace("; ", "; 5; "),
    PLAIN.replace("; ", ";\n"): PLAIN.replace("; ", ";\n\nI think "),
    PLAIN.replace("; ", ";\u00a0"): PLAIN.replace("; ", ";\u00a0x"),
    PLAIN.replace("STATE: ", "STATE:\n"): PLAIN.replace("STATE: ", "STATE:\n30 "),
    PLAIN.replace("0.30,", "0.30,\n"): PLAIN.replace("0.30,", "0.30,\nor "),
    f"STATE: {CONF}; {PREF}; {TAGS}": f"STATE: {CONF}; {PREF}; {CONF}; {TAGS}",
    f"STATE: {TAGS}; {CONF}; {PREF}": f"STATE: {TAGS}; {CONF}",
    f"STATE: {{{PREF}; {CONF}; {TAGS}}}": f"STATE: {{{PREF}; {CONF}; {TAGS}",
    PLAIN.replace("=", ": "): PLAIN.replace("=", " is "),
    PLAIN.replace("=", " = "): PLAIN.replace("=", " "),
    PLAIN.replace("pref", "preferences"): PLAIN.replace("pref", "prefers"),
    PLAIN.replace("conf", "confidence"): PLAIN.replace("conf", "con"),
    pref("pref=[0.2, 0.3, 0.5]"): pref("pref=[0.2, 0.3, 0.5, 0.0]"),
    pref("pref=[.2,.3,.5]"): pref("pref=[2,3,5]"),
    pref("pref=[0.2 0.3 0.5]"): pref("pref=[0.2 0.3, 0.5]"),
    pref("pref=[0.2; 0.3; 0.5]"): pref("pref=[0,20; 0,30; 0,50]"),
    pref("pref=[0.2 | 0.3 | 0.5]"): pref("pref=[0.2 / 0.3 / 0.5]"),
    pref("pref=(0.2, 0.3, 0.5)"): pref("pref=(0.2, 0.3, 0.5]"),
    pref("pref=<0.2, 0.3, 0.5>"): pref("pref=<0.2, 0.3, 0.5"),
    pref("pref=0.2, 0.3, 0.5"): pref("pref=0.2, 0.3"),
    pref("pref=[20%,30%,50%]"): pref("pref=[20%,30%,0.5]"),
    pref("pref=[20 %, 30 %, 50 %]"): pref("pref=[0.2%,0.3%,0.5%]"),
    pref("pref=[20,30,50]"): pref("pref=[20,30,60]"),
    pref("pref=[20.0,30.0,50.0]"): pref("pref=[20.0,30.0,0.5]"),
    pref("pref=[2e-1,0.30,0.50]"): pref("pref=[2e,0.30,0.50]"),
    pref("pref=[0.20,0.30,0.50,]"): pref("pref=[0.20,,0.30,0.50]"),
    pref("pref=[０.20,0.30,0.50]"): pref("pref=[−0.20,0.60,0.60]"),
    pref("pref=[+0.20,0.30,0.50]"): pref("pref=[-0.20,0.60,0.60]"),
    pref('pref=["0.2","0.3","0.5"]'): pref('pref=["0.2","0.3","half"]'),
    pref("pref=[A=0.2, B=0.3, C=0.5]"): pref("pref=[A=0.2, B=0.3, B=0.5]"),
    pref("pref=[A: 0.2, B: 0.3, C: 0.5]"): pref("pref=[A: 0.2, B: 0.3, D: 0.5]"),
    pref("pref=[C=0.5, A=0.2, B=0.3]"): pref("pref=[C=0.5, A=0.2, 0.3]"),
    pref("pref=[pA=0.2,pB=0.3,pC=0.5]"): pref("pref=[pA=0.2,pB=0.3]"),
    pref('pref={"A":0.2,"B":0.3,"C":0.5}'): pref('pref={"A":0.2,"A":0.3,"C":0.5}'),
    pref("A=20%, B=30%, C=50%"): pref("A=20%, B=30%, C=60%"),
    pref("pref=[0.200,0.3,0.50]"): pref("pref=[0.25,0.30,0.50]"),
    conf("conf=70%"): conf("conf=0.7"),
    conf("conf=70.0"): conf("conf=70.5"),
    conf("conf=70/100"): conf("conf=7/10"),
    conf("conf: 70"): conf("conf: 170"),
    conf('conf="70"'): conf('conf="seventy"'),
    conf("conf=７0"): conf("conf=-70"),
    conf("conf= 70"): conf("conf=70 or 80"),
    tags("tags=['fair_process','cost_control']"): tags("tags=['fair_process']"),
    tags("tags=[“fair_process”, “cost_control”]"): tags("tags=[“fair_process”, “”]"),
    tags("tags=[fair_process, cost_control]"): tags("tags=[fair_process, cost_control, speed]"),
    tags("tags=fair_process, cost_control"): tags("tags=fair_process"),
    tags("tags=(fair_process; cost_control)"): tags("tags=(fair_process; cost_control"),
    tags('tags=["fair-process","Cost control"]'): tags('tags=["fair/process","cost_control"]'),
    tags('tags=["#fair_process","#cost_control",]'): tags('tags=["fair_process" "cost_control"]'),
    tags('tags=["Fair Process", "cost_control"]'): tags('tags=["9", "cost_control"]'),
    f"My final state: {PLAIN}": f"My state in round 1 was: {PLAIN}",
    f"Here is my state: {PLAIN}": f"Welfare wrote: {PLAIN}",
    f"<state>{PLAIN[7:]}</state>": f"~~{PLAIN}~~",
    PLAIN.replace("_", r"\_").replace("[", r"\["): f"<!-- {PLAIN} -->",
    pref("pref=[٠.20,0.30,٠.50]"): pref("pref=[٠.20,0.30,٠.60]"),
    pref("pref=[0.20000000000000001,0.3,0.5]"): pref("pref=[0.2,0.3,0.4000000000000001]"),
    pref("pref=【0.2、0.3、0.5】"): pref("pref=【0.2、0.3】"),
    f"STATE:\n- {PREF}\n- {CONF}\n- {TAGS}": f"STATE:\n- pref=[- 0.2,0.6,0.6]\n- {CONF}\n- {TAGS}",
    tags("tags=fair-process, cost_control"): tags("tags=fair_process, cost_control I yield"),
    OBJECT: OBJECT[:-1] + ',"previous":{"pref":[0.5,0.3,0.2]}}',
    OBJECT[:-1] + ',"speaker":"me"}': OBJECT[:-1] + f',"state":{OBJECT}}}',
    f"```json\n{OBJECT}\n```": f"I reject {OBJECT}",
    'STATE: {"pref":[0.2,0.3,0.5],"conf":70,"tags":["fair_process","cost_control"]}': (
        'STATE: {"pref":[0.2,0.3,0.5],"tags":["fair_process","cost_control"]}'
    ),
    'STATE: {"pref":{"A":20,"B":30,"C":50},"conf":70,"tags":["fair_process","cost_control"]}': (
        'STATE: {"pref":{"A":20,"B":30},"conf":70,"tags":["fair_process","cost_control"]}'
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", STATES)
def test_a_state_of_one_meaning_is_read(text: str) -> None:
    argument, state, forms = read_answer(f"{SAID}\n{text}", LABELS, OTHERS)
    assert state.pref == pytest.approx(MEANT.pref)
    assert (state.conf, state.tags) == (MEANT.conf, MEANT.tags)
    assert argument in (SAID, f"{SAID}\nMy answer.", f"{SAID}\nFinal state:")
    assert not re.search(r"pref|conf=|```", argument)
    if not forms:
        parse_answer(re.sub(r"</?[^<>]+>\s*$", "", f"{SAID}\n{text}"), len(LABELS))


@pytest.mark.parametrize("text", STATES.values())
def test_its_neighbour_is_refused(text: str) -> None:
    with pytest.raises(Malformed) as told:
        read_answer(f"{SAID}\n{text}", LABELS, OTHERS)
    assert len(str(told.value)) > 10


B80 = '{"decision": "B", "confidence": 80}'
BALLOTS = {
    f"```json\n{B80}\n```": f"```json\n{B80}\n{B80.replace('80', '81')}\n```",
    f"```JSON\n{B80}\n```": "```JSON\n{}\n```",
    f"My vote:\n{B80}": "My vote: B, 80",
    f"Here it is:\n```json\n{B80}\n```\nThank you.": f"{B80} or {B80.replace('B', 'A')}",
    f"**{B80}**": f"**{B80[:-1]}**",
    f"[{B80}]": f"[{B80}, {B80.replace('B', 'C')}]",
    f"{B80}\n{B80}": f"{B80}\n{B80.replace('B', 'C')}",
    f"{B80}<|im_end|>": f"{B80[:-6]}<|im_end|>",
    B80.replace("80}", "80,}"): B80.replace("80}", "}"),
    B80.replace('"', "'"): B80.replace('"', "'").replace("B", "E"),
    B80.replace('"', "”"): B80.replace(":", "="),
    "{decision: B, confidence: 80}": "{decision: B}",
    B80.replace("80}", '80, "reason": "fair"}'): B80.replace("80}", '80, "decision": "A"}'),
    B80.replace("80}", '80, "why": {"x": 1}}'): B80.replace('"B"', '{"x": 1}'),
    f'{{"ballot": {B80}}}': f'{{"ballot": {B80}, "other": {B80.replace("B", "A")}}}',
    B80.replace('"B"', '"b"'): B80.replace('"B"', '"d"'),
    B80.replace('"B"', '"B."'): B80.replace('"B"', '"B or C"'),
    B80.replace('"B"', '"Option B"'): B80.replace('"B"', '"Option 2"'),
    B80.replace('"B"', '"option b"'): B80.replace('"B"', '"not B"'),
    B80.replace('"B"', '"(B)"'): B80.replace('"B"', '""'),
    B80.replace('"B"', '" B "'): B80.replace('"B"', "null"),
    B80.replace('"B"', '"**B**"'): B80.replace('"B"', '"NONE"'),
    B80.replace("80", "80.0"): B80.replace("80", "80.5"),
    B80.replace("80", '"80"'): B80.replace("80", '"eighty"'),
    B80.replace("80", '"80%"'): B80.replace("80", '"0.8%"'),
    B80.replace("80", '"80/100"'): B80.replace("80", '"8/10"'),
    B80.replace("80", '"80 "'): B80.replace("80", "0.8"),
    B80.replace("80}", "80 }"): B80.replace("80", "180"),
    '{\n "decision": "B",\n "confidence": 80\n}\n\nI chose B.': B80.replace("80", "-80"),
    f"{{curly}} words, then {B80}": "{curly} words, then B",
    f"A set {{ of thoughts. {B80}": f'{B80} {{"decision": "A"',
    "Decision: B\nConfidence: 80": "Decision: B\nConfidence: 80\nDecision: A\nConfidence: 80",
    B80.replace("decision", "Decision"): B80[:-1] + ', "Decision": "A"}',
    B80.replace('"B"', '"B) the second measure"'): B80.replace('"B"', '"B - A"'),
    B80.replace('"B"', '"Möglichkeit B"'): B80.replace('"B"', '"gegen B"'),
    B80.replace('"B"', '"选项B"'): B80.replace('"B"', '"不B"'),
    f"{{{B80}}}": f"I would not vote {B80}",
    f"\\boxed{B80}": f"Welfare said: {B80}",
    f'{{"vote": {B80}}}': f'{{"Welfare": {B80}}}',
    B80[:-1] + ', "reason": "option A costs more"}': B80[:-1] + ', "final_decision": "A"}',
    B80[:-1] + ', "note": {"a": 1}}': f'{B80[:-1]}, "previous": {{"decision": "A"}}}}',
}


@pytest.mark.parametrize("text", BALLOTS)
def test_a_ballot_of_one_meaning_is_read(text: str) -> None:
    assert read_ballot(text, LABELS)[0] == Ballot("B", 80)


@pytest.mark.parametrize("text", BALLOTS.values())
def test_the_neighbour_of_a_ballot_is_refused(text: str) -> None:
    with pytest.raises(Malformed) as told:
        read_ballot(text, LABELS)
    assert len(str(told.value)) > 10


C2 = '{"decision": "B", "majority_count": 2, "total": 3}'
COUNTS = {
    f"The winner is B.\n{C2}": f"The winner is B.\n{C2[:-1]}",
    f"```JSON\n{C2}```": C2.replace('"total": 3', '"sum": 3'),
    C2.replace("2", "2.0"): C2.replace("2", "2.5"),
    C2.replace("2", '"2"'): C2.replace("2", '"two"'),
    C2.replace("3}", "3,}"): C2.replace("3", "-3"),
    C2.replace('"', "'"): C2.replace('"B"', '"D"'),
    C2.replace('"B"', '"Option B"'): C2.replace('"B"', '"B, C"'),
    C2.replace("3}", '3, "note": "clear"}'): C2.replace("3}", '3, "total": 4}'),
    f"{C2} {C2}": f"{C2} {C2.replace('2', '3')}",
    f"**{C2}**": C2.replace("2", "20%"),
}


@pytest.mark.parametrize("text", COUNTS)
def test_a_count_of_one_meaning_is_read(text: str) -> None:
    assert read_count(text, LABELS)[0] == Count("B", 2, 3)


@pytest.mark.parametrize("text", COUNTS.values())
def test_the_neighbour_of_a_count_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        read_count(text, LABELS)


def test_at_least_a_hundred_and_twenty_spellings_are_tried() -> None:
    assert len(STATES) + len(BALLOTS) + len(COUNTS) >= 120


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        ("<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final "
         "<|constrain|>json<|message|>B<|return|>", "A?"),
        ("<|channel|>analysis<|message|>A?<|channel|>final<|message|>B", "A?"),
        ("<|channel|>analysis<|message|>A?<|end|>B", "A?"),
        ("<|START_THINKING|>A?<|END_THINKING|>B", "A?"),
        ("<unused94>thought\nA?<unused95>B", "A?"),
        ('<details type="reasoning" done="true">A?</details>B', "A?"),
        *((f"<{name}>A?</{name}>B", "A?")
          for name in ("think ", "thoughts", "scratchpad", "inner_monologue", "longcat_think")),
        ("&lt;think&gt;A?&lt;/think&gt;B", "A?"),
        ("<analysis>A?</analysis>\nB", "A?"),
        ("B\n<think>A?", "A?"),
    ],
)  # fmt: skip
def test_reasoning_is_taken_off_whatever_marks_it(text: str, reasoning: str) -> None:
    assert split_reasoning(text) == (reasoning, "B")


@pytest.mark.parametrize(
    "text", ["`</think>` ends it. B", "<details>A</details> B", "<analysis>B</analysis>"]
)
def test_what_only_speaks_of_a_mark_or_is_all_the_answer_stays(text: str) -> None:
    assert split_reasoning(text) == ("", text)


@pytest.mark.parametrize(
    "mark", ["<think>", "</think>", "<|channel|>x", '<details type="reasoning">', "&lt;think&gt;"]
)
def test_a_text_of_marks_alone_is_split_in_one_pass(mark: str) -> None:
    """A search from each mark to the end would take hours, which ends in the test's time limit."""
    reasoning, answer = split_reasoning(mark * (1_000_000 // len(mark)))
    assert len(reasoning) + len(answer) <= 1_000_000


@pytest.mark.parametrize("text", ["{ " * 100_000, "[{" * 100_000, '{"a": ' * 100_000])
def test_braces_without_an_end_are_refused(text: str) -> None:
    with pytest.raises(Malformed):
        read_ballot(text, LABELS)


@pytest.mark.parametrize("levels", [290, 900, 100_000])
def test_objects_in_objects_are_refused_at_any_depth(levels: int) -> None:
    for read, inner in ((read_ballot, B80), (read_answer, f'{OBJECT[:-1]}, "state": 1}}')):
        with suppress(Malformed):
            read('{"a":' * levels + inner + "}" * levels, LABELS)


# --- fuzz ----------------------------------------------------------------------------------------

Meaning = tuple[tuple[float, ...], int]
NOT_MEANT = -1
"""The number of what a writer doesn't mean as an answer: another seat's, or an example."""
NOT_OWN = (
    *("Welfare wrote: ", "Welfare (round 1): ", "I reject what Welfare says: ", "Chair/Welfare: "),
    *("Not: ", "Example: ", "Format: ", "Rejected: ", "Previous: ", "~~", "<!-- ", "Welfare's: "),
    "My state in round 1 was: ",
)
NO_BALLOT = (
    *("I would not vote %s", '{"Welfare": %s}', '{"format": %s}', "Chair said: %s"),
    *('[{"previous": %s}]', "I reject %s", '%s {"decision": '),
)


def write_answer(random: Random) -> tuple[str, Meaning]:
    """A state in a random spelling, and what its writer meant."""
    options = random.randint(2, 5)
    cuts = sorted(random.sample(range(101), options - 1))
    shares = [b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]
    sure = random.randint(0, 100)
    number = random.choice(("{:.2f}", "{:.3f}", "%", "whole", "{:g}"))
    if number == "%":
        numbers = [f"{share}%" for share in shares]
    elif number == "whole":
        numbers = [str(share) for share in shares]
    else:
        numbers = [number.format(share / 100) for share in shares]
    if random.random() < 0.2:
        numbers = [f"{label}={value}" for label, value in zip("ABCDE", numbers, strict=False)]
    if random.random() < 0.1:
        numbers = [value.replace(".", ",") for value in numbers]  # two readings
    comma = random.choice((",", ", ", "; ", " ", " | "))
    opening, closing = random.choice(("[]", "()", "{}", "<>", ("", "")))
    confidence = random.choice((f"{sure}", f"{sure}%", f"{sure}.0", f"{sure / 100}", f"{sure}/100"))
    fields = [
        f"pref{random.choice('=:')}{opening}{comma.join(numbers)}{closing}",
        f"{random.choice(('conf', 'confidence'))}{random.choice('=:')}{confidence}",
        random.choice(("tags=[x_y,z]", 'tags=["x_y","z"]', "tags=['x y', z]")),
    ]
    if random.random() < 0.2:
        random.shuffle(fields)
    mark = random.choice(("STATE: ", "**STATE:** ", "State: ", "STATE:\n", "- STATE: ", "", "Z: "))
    line = mark + random.choice(("; ", ", ", " ", ";\n")).join(fields)
    if random.random() < 0.1:
        marked = line if line.startswith("S") else f"STATE: {line[len(mark) :]}"
        return random.choice(NOT_OWN) + marked, ((0.0,) * options, NOT_MEANT)
    return line, (tuple(share / 100 for share in shares), sure)


def write_ballot(random: Random) -> tuple[str, Meaning]:
    """A ballot in a random spelling, with the place of the option that is voted for."""
    place, sure = random.randrange(5), random.randint(0, 100)
    label = "ABCDE"[place]
    said = random.choice(
        (f'"{label}"', f'"{label.lower()}"', f'"Option {label}"', f"'{label}'", label)
    )
    given = (f"{sure}", f"{sure}.0", f'"{sure}"', f'"{sure}%"', f"{sure / 100}", f'"{sure}/100"')
    fields = [f'"decision": {said}', f'"confidence": {random.choice(given)}']
    if random.random() < 0.3:
        fields.append(random.choice(('"reason": "fair {a} 7"', '"second": "A"', "why: cost")))
    random.shuffle(fields)
    around = random.choice(
        ("%s", "My vote:\n%s", "```json\n%s\n```", "**%s**", "[%s]", "%s\nA or B?")
    )
    ballot = f"{{{', '.join(fields)}{random.choice(('', ','))}}}"
    if random.random() < 0.1:
        return random.choice(NO_BALLOT) % ballot, ((place,), NOT_MEANT)
    return around % ballot, ((place,), sure)


def spoil(random: Random, text: str) -> str:
    """Lose, double or exchange a character or two."""
    for _ in range(random.choice((1, 2))):
        at = random.randrange(len(text))
        new = random.choice(("", text[at] * 2, random.choice("0123.,%[]:;-\"'{}")))
        text = text[:at] + new + text[at + 1 :]
    return text


def find_misreadings(seed: int, answers: int) -> tuple[int, list[tuple[Any, ...]]]:
    """Read answers, half of them spoilt: how many were read, and those that were read wrongly.

    An answer that isn't spoilt is read as its writer meant it, or refused. Of a spoilt one the
    writer's meaning may be gone; it is misread if the numbers that were read don't stand in it.
    """
    random, read, wrong = Random(seed), 0, []
    for _ in range(answers):
        ballot = random.random() < 0.3
        text, meant = write_ballot(random) if ballot else write_answer(random)
        spoilt = random.random() < 0.5
        shown = spoil(random, text) if spoilt else text
        try:
            found = read_one(shown, ballot, len(meant[0]))
        except Malformed:
            continue
        read += 1
        near = all(abs(a - b) < 0.006 for a, b in zip(found[0], meant[0], strict=True))
        right = near and found[1] == meant[1]
        if not right and (not spoilt or not shows(shown, found, ballot)):
            wrong.append((shown, found, meant))
    return read, wrong


def read_one(text: str, ballot: bool, options: int) -> Meaning:
    if ballot:
        vote, _ = read_ballot(text, tuple("ABCDE"))
        return ("ABCDE".index(vote.decision),), vote.confidence
    _, state, _ = read_answer(f"{SAID}\n{text}", tuple("ABCDE"[:options]), OTHERS)
    return state.pref, state.conf


def shows(text: str, found: Meaning, ballot: bool) -> bool:
    """Return whether a text, as it stands, holds what was read."""
    numbers = [float(each) for each in re.findall(r"\d+(?:\.\d*)?|\.\d+", text)]
    if found[1] not in numbers:
        return False
    if ballot:
        return "ABCDE"[int(found[0][0])] in text.upper()
    return any(
        all(any(abs(share * total - n) < 0.021 * total for n in numbers) for share in found[0])
        for total in (1, 100)
    )


def test_no_answer_is_misread() -> None:
    read, wrong = find_misreadings(1, 4000)
    assert wrong == []
    assert read > 1300


@pytest.mark.long
def test_of_many_answers_none_is_misread() -> None:
    """A tenth of the million that was read once; another seed reads others."""
    read, wrong = find_misreadings(2, 100_000)
    assert wrong[:3] == []
    assert read > 35_000


@given(st.text(max_size=80), st.sampled_from(["", PLAIN, B80]), st.text(max_size=20))
def test_any_text_is_read_or_refused(before: str, said: str, after: str) -> None:
    text = f"{before}\n{said}{after}"
    for read in (read_answer, read_ballot, read_count):
        with suppress(Malformed):
            assert read(text, LABELS)


@given(st.text(alphabet='STAEpref=[0.25,]; conf7tags"x_y\n', max_size=120))
def test_what_the_strict_reader_accepts_is_read_alike(text: str) -> None:
    try:
        meant = strict_reading.read_state(text, 2)[1]
    except strict_reading.Refused:
        return
    _, state, forms = read_answer(text, ("A", "B"))
    assert (state.pref, state.conf, forms) == (
        tuple(map(float, meant.preferences)),
        meant.confidence,
        (),
    )
