"""Nine layouts: the canonical words in another formatting, as pure functions of the scenario.

Each takes a :class:`~plenum.scenarios.Scenario` and returns the packet's text. Words and their
order stay; line breaks, marks, capitals and delimiters differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import indent

from plenum.scenarios import Option, Scenario
from plenum.scenarios.sentences import split
from plenum.scenarios.variant import Variant

_HEADS = {
    "affected": "Who is affected",
    "numbers": "Numbers",
    "constraints": "Constraints",
    "cases": "Cases",
}


@dataclass(frozen=True)
class _Part:
    """A section of the packet: its head, and a text or items below it."""

    head: str
    text: str = ""
    items: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


def _parts(scenario: Scenario) -> list[_Part]:
    """The sections of ``Scenario.packet`` below its title, in order."""
    parts = [
        _Part("Domain", scenario.domain),
        _Part("Situation", scenario.situation),
        *(_Part(head, items=getattr(scenario, field)) for field, head in _HEADS.items()),
        _Part("Options", options=scenario.options),
        _Part("Decision question", scenario.question),
        _Part("Endpoint", scenario.endpoint),
    ]
    # What the packet says after the endpoint (an allocation explains its decision).
    tail = scenario.packet.split(f"Endpoint: {scenario.endpoint}", 1)[1].strip()
    return [*parts, _Part("", tail)] if tail else parts


def _option(option: Option) -> str:
    return f"{option.label}. {option.name}: {option.description}"


def _each(mark: Callable[[str], str]) -> Callable[[Sequence[str]], str]:
    return lambda items: "\n".join(map(mark, items))


def _wide(text: str) -> str:
    return "  ".join(split(text))


_dashed = _each("- {}".format)


def _render(
    scenario: Scenario,
    title: Callable[[str], str] = lambda title: title,
    head: Callable[[str], str] = lambda head: f"{head}: ",
    over: Callable[[str], str] = lambda head: f"{head}:\n",
    text: Callable[[str], str] = lambda text: text,
    items: Callable[[Sequence[str]], str] = _dashed,
    option: Callable[[Option], str] = _option,
    between: str = "\n\n",
) -> str:
    """The packet with some of its formatting replaced; by default it is the canonical one."""
    rendered = [title(f"{scenario.id}: {scenario.title}")]
    for part in _parts(scenario):
        if part.options:
            body = over(part.head) + "\n".join(map(option, part.options))
        elif part.items:
            body = over(part.head) + items(part.items)
        else:
            body = (head(part.head) if part.head else "") + text(part.text)
        rendered.append(body)
    return between.join(rendered)


def line_breaks(scenario: Scenario) -> str:
    """Every head and every sentence on a line of its own."""
    return _render(
        scenario,
        head=lambda head: f"{head}:\n",
        text=lambda text: "\n".join(split(text)),
        option=lambda o: "\n".join([f"{o.label}. {o.name}:", *split(o.description)]),
    )


def bullets(scenario: Scenario) -> str:
    """Round bullets before items, options and the sentences of the texts."""
    bulleted = _each("\u2022 {}".format)
    return _render(
        scenario,
        head=lambda head: f"{head}:\n",
        text=lambda text: bulleted(split(text)),
        items=bulleted,
        option=lambda o: f"\u2022 {_option(o)}",
    )


def numbering(scenario: Scenario) -> str:
    """The items of each list numbered from 1."""
    return _render(
        scenario, items=lambda items: "\n".join(f"{n}. {i}" for n, i in enumerate(items, start=1))
    )


def capitals(scenario: Scenario) -> str:
    """Title, heads and option names in capitals."""
    return _render(
        scenario,
        title=str.upper,
        head=lambda head: f"{head.upper()}: ",
        over=lambda head: f"{head.upper()}:\n",
        option=lambda o: f"{o.label}. {o.name.upper()}: {o.description}",
    )


def emphasis(scenario: Scenario) -> str:
    """Title and heads in double asterisks, option labels and names in single ones."""
    return _render(
        scenario,
        title="**{}**".format,
        head=lambda head: f"**{head}:** ",
        over=lambda head: f"**{head}:**\n",
        option=lambda o: f"*{o.label}. {o.name}:* {o.description}",
    )


def spacing(scenario: Scenario) -> str:
    """Two spaces after a sentence, indented lists, and two empty lines between sections."""
    return _render(
        scenario,
        text=_wide,
        items=lambda items: indent("\n".join(f"-  {_wide(i)}" for i in items), "    "),
        option=lambda o: f"    {o.label}.  {o.name}:  {_wide(o.description)}",
        between="\n\n\n",
    )


def quotes(scenario: Scenario) -> str:
    """Each text, item and description in quotation marks."""
    return _render(
        scenario,
        text='"{}"'.format,
        items=_each('- "{}"'.format),
        option=lambda o: f'{o.label}. {o.name}: "{o.description}"',
    )


def headings(scenario: Scenario) -> str:
    """Markdown headings over the sections instead of heads with colons.

    Of the third level: the prompt has its own sections on the second.
    """
    return _render(
        scenario,
        title="### {}".format,
        head=lambda head: f"### {head}\n\n",
        over=lambda head: f"### {head}\n\n",
    )


def delimiters(scenario: Scenario) -> str:
    """Options as ``(A) Name | description`` instead of ``A. Name: description``."""
    return _render(scenario, option=lambda o: f"({o.label}) {o.name} | {o.description}")


LAYOUTS: dict[str, Callable[[Scenario], str]] = {
    f"format_{function.__name__}": function
    for function in (
        *(line_breaks, bullets, numbering, capitals, emphasis, spacing, quotes, headings),
        delimiters,
    )
}
"""The nine layouts by the names of their variants."""


def formats(scenario: Scenario) -> tuple[Variant, ...]:
    """The nine formatting variants of a scenario."""
    return tuple(Variant(name, "format", render(scenario)) for name, render in LAYOUTS.items())
