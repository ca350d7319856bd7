"""Screens of wordings, by which other packages check the meaning before a model sees them."""

from typing import Any, Protocol

from plenum.base import Registry
from plenum.scenarios import Scenario
from plenum.scenarios.sentences import Sentence
from plenum.scenarios.variant import Variant


class Screen(Protocol):
    """A module that lists the changes of meaning that a wording makes; none if it passes."""

    def collect_facts(self, scenario: Scenario) -> Any:
        """Collect the facts of a scenario that :meth:`wording` needs."""

    def wording(self, sentence: Sentence, way: str, of: Any) -> list[str]:
        """List changes that the wording of one sentence makes."""

    def screen(self, scenario: Scenario, variant: Variant) -> list[str]:
        """List changes that a whole variant makes."""


SCREENS: Registry[Screen] = Registry("plenum.screens", "perturbation: a screen of wordings")


def rule_screen() -> Screen:
    """Return the rule-based screen, which every variant has to pass.

    Raises
    ------
    UserError
        No installed package has it.
    """
    return SCREENS["rules"]
