"""Nine formatting variants of a scenario, as pure functions.

Words and their order stay; line breaks, marks, capitals and delimiters differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import indent

from plenum.scenarios.scenario import Option, Scenario
from plenum.scenarios.sentences import split_sentences
from plenum.scenarios.variant import Variant

_HEADS = {
    "affected": "Who is affected",
    "numbers": "Numbers",
    "constraints": "Constraints",
    "cases": "Cases",
}


@dataclass(frozen=True)
class _Part:
    """A section of the packet: its heading, and a text or items below it."""

    head: str
    text: str = ""
    items: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


def _parts(scenario: Scenario) -> list[_Part]:
    """List the sections of ``Scenario.packet`` below its title, in order."""
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
    return "  ".join(split_sentences(text))


_dashed = _each("- {}".format)
_bulleted = _each("\u2022 {}".format)


@dataclass(frozen=True)
class _Layout:
    """The way each piece of a packet is formatted; the default is the canonical one.

    ``head`` formats the heading before a text, ``over`` the one above items and options.
    """

    title: Callable[[str], str] = "{}".format
    head: Callable[[str], str] = "{}: ".format
    over: Callable[[str], str] = "{}:\n".format
    text: Callable[[str], str] = "{}".format
    items: Callable[[Sequence[str]], str] = _dashed
    option: Callable[[Option], str] = _option
    between: str = "\n\n"

    def __call__(self, scenario: Scenario) -> str:
        """Render the packet in this layout."""
        rendered = [self.title(f"{scenario.id}: {scenario.title}")]
        for part in _parts(scenario):
            if part.options:
                body = self.over(part.head) + "\n".join(map(self.option, part.options))
            elif part.items:
                body = self.over(part.head) + self.items(part.items)
            else:
                body = (self.head(part.head) if part.head else "") + self.text(part.text)
            rendered.append(body)
        return self.between.join(rendered)


LAYOUTS: dict[str, Callable[[Scenario], str]] = {
    # every head and every sentence on a line of its own
    "format_line_breaks": _Layout(
        head="{}:\n".format,
        text=lambda text: "\n".join(split_sentences(text)),
        option=lambda o: "\n".join([f"{o.label}. {o.name}:", *split_sentences(o.description)]),
    ),
    # round bullets before items, options and the sentences of the texts
    "format_bullets": _Layout(
        head="{}:\n".format,
        text=lambda text: _bulleted(split_sentences(text)),
        items=_bulleted,
        option=lambda o: f"\u2022 {_option(o)}",
    ),
    # the items of each list numbered from 1
    "format_numbering": _Layout(
        items=lambda items: "\n".join(f"{n}. {i}" for n, i in enumerate(items, start=1))
    ),
    # title, heads and option names in capitals
    "format_capitals": _Layout(
        title=str.upper,
        head=lambda head: f"{head.upper()}: ",
        over=lambda head: f"{head.upper()}:\n",
        option=lambda o: f"{o.label}. {o.name.upper()}: {o.description}",
    ),
    # title and heads in double asterisks, option labels and names in single ones
    "format_emphasis": _Layout(
        title="**{}**".format,
        head="**{}:** ".format,
        over="**{}:**\n".format,
        option=lambda o: f"*{o.label}. {o.name}:* {o.description}",
    ),
    # two spaces after a sentence, indented lists, and two empty lines between sections
    "format_spacing": _Layout(
        text=_wide,
        items=lambda items: indent("\n".join(f"-  {_wide(i)}" for i in items), "    "),
        option=lambda o: f"    {o.label}.  {o.name}:  {_wide(o.description)}",
        between="\n\n\n",
    ),
    # each text, item and description in quotation marks
    "format_quotes": _Layout(
        text='"{}"'.format,
        items=_each('- "{}"'.format),
        option=lambda o: f'{o.label}. {o.name}: "{o.description}"',
    ),
    # Markdown headings instead of heads with colons; the prompt has its own on the second level
    "format_headings": _Layout(
        title="### {}".format, head="### {}\n\n".format, over="### {}\n\n".format
    ),
    # options as ``(A) Name | description`` instead of ``A. Name: description``
    "format_delimiters": _Layout(option=lambda o: f"({o.label}) {o.name} | {o.description}"),
}
"""The nine layouts by the names of their variants."""


def format_variants(scenario: Scenario) -> tuple[Variant, ...]:
    """Make the nine formatting variants of a scenario."""
    return tuple(Variant(name, "format", render(scenario)) for name, render in LAYOUTS.items())
