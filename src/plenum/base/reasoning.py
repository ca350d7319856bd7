"""The reasoning that a model writes in front of its answer, which is no part of the answer.

Servers with a parser for a model's reasoning return it in a field of its own; others leave it in
the text, between marks that depend on the model. A mark that is closed and never opened is common,
since chat templates open it in the prompt.
"""

import re

# `<think>`, `<seed:think>`, `<longcat_think>`, Cohere's `<|START_THINKING|>`, Mistral's `[THINK]`,
# Kimi's `◁think▷`, `<|begin_of_thought|>`, MedGemma's `<unused94>thought`. Names that an answer may
# give to a part of its own, such as `analysis`, are reasoning only at its beginning.
_NAMES = r"(?i:\w*?(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|monologue))"
_OPEN = (
    rf"<(?:\w+:)?{_NAMES}\s*>|<\|START_THINKING\|>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|"
    r"<unused94>thought"
)
_CLOSE = (
    rf"</(?:\w+:)?{_NAMES}\s*>|<\|END_THINKING\|>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|"
    r"<unused95>"
)
_DETAILS = r"<details type=.reasoning.[^<>]*>"
_MARK = re.compile(
    rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<details>{_DETAILS})|(?P<summary></details>)"
)
_ENDED_BY = {"open": "close", "details": "summary"}
# A mark in quotes is spoken of.
_CLOSED = re.compile(rf"\A(.*)(?<![`\"'])(?:{_CLOSE})", re.DOTALL)
_OPENED = re.compile(rf"\A(.*?)(?<![`\"'])(?:{_OPEN})(.*)\Z", re.DOTALL)
_ANALYSED = re.compile(r"\A\s*<analysis>(.*?)</analysis>(?=\s*\S)", re.DOTALL | re.IGNORECASE)
_ESCAPED = re.compile(rf"&lt;(/?{_NAMES})&gt;")
_SOLUTION = re.compile(r"<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>")
# Harmony, the form of gpt-oss: a message is a channel's name, more marks, and its text.
_MESSAGE = re.compile(
    r"(?:<\|start\|>\w*)?<\|channel\|>\s*(\w+)(?:(?!<\|(?:message|channel)\|>).)*<\|message\|>"
    r"(.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)(?:<\|(?:end|return|call)\|>)?",
    re.DOTALL,
)
# The same where a server removed its marks.
_UNMARKED = re.compile(r"\Aanalysis(.+?)assistantfinal(.*)\Z", re.DOTALL)
_MARKS = re.compile(
    rf"{_OPEN}|{_CLOSE}|{_DETAILS}|<\|channel\|>|\Aanalysis|<analysis>", re.IGNORECASE
)


def split_reasoning(text: str) -> tuple[str, str]:
    r"""Split what a model wrote into its reasoning and its answer.

    Parameters
    ----------
    text
        All that it wrote.

    Returns
    -------
    reasoning, answer
        Without the marks; the reasoning is empty where there is none. The answer is empty where the
        reasoning has no end.

    Examples
    --------
    >>> split_reasoning("<think>A or B?</think>\nB.")
    ('A or B?', 'B.')
    >>> split_reasoning("A or B? I take B.\n</think>B.")
    ('A or B? I take B.', 'B.')
    >>> split_reasoning("I think that B is better.")
    ('', 'I think that B is better.')
    """
    text = _ESCAPED.sub(r"<\1>", text)
    if not _MARKS.search(text):
        return "", text
    if messages := _MESSAGE.findall(text):
        answers = [said for channel, said in messages if channel == "final"]
        others = [said for channel, said in messages if channel != "final"]
        # without a last channel, what stands outside of all channels is the answer
        return _join(others), _join(answers or [_MESSAGE.sub("", text)])
    if unmarked := _UNMARKED.match(text):
        return unmarked[1].strip(), unmarked[2].strip()
    found, rest = _take_blocks(text)
    if closed := _CLOSED.match(rest):
        found.append(closed[1])
        rest = rest[closed.end() :]
    elif opened := _OPENED.match(rest):  # behind an answer it is an afterthought
        found.append(opened[2])
        rest = opened[1]
    elif analysed := _ANALYSED.match(rest):
        found.append(analysed[1])
        rest = rest[analysed.end() :]
    return _join(found), _SOLUTION.sub("", rest).strip()


def _take_blocks(text: str) -> tuple[list[str], str]:
    """Return what stands in closed blocks, and the text without them."""
    found, kept, at = [], [], 0
    begun: re.Match[str] | None = None
    # In one pass: to search the end of each mark anew would take hours of a text made of marks.
    for mark in _MARK.finditer(text):
        if begun is None and mark.lastgroup in _ENDED_BY:
            begun = mark
        elif begun is not None and mark.lastgroup == _ENDED_BY[str(begun.lastgroup)]:
            found.append(text[begun.end() : mark.start()])
            kept.append(text[at : begun.start()])
            at, begun = mark.end(), None
    return found, "".join([*kept, text[at:]])


def strip_reasoning(text: str) -> str:
    r"""Return the answer of a text as it is shown and compared: all of it where it is no more.

    Examples
    --------
    >>> strip_reasoning("<think>A or B?</think>\nB."), strip_reasoning("<think>A or B?")
    ('B.', '<think>A or B?')
    """
    return split_reasoning(text)[1] or text


def _join(parts: list[str]) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
