"""Screens: what other packages check the meaning of wordings with, before a model sees them."""

from typing import Any, Protocol

from plenum.base.extensions import Registry
from plenum.scenarios import Scenario
from plenum.scenarios.sentences import Sentence
from plenum.scenarios.variant import Variant


class Screen(Protocol):
    """A module that says what a wording changes, in a line each; nothing where it passes."""

    def known(self, scenario: Scenario) -> Any:
        """Facts of a scenario that :meth:`wording` needs."""

    def wording(self, sentence: Sentence, way: str, of: Any) -> list[str]:
        """Changes that the wording of one sentence makes."""

    def screen(self, scenario: Scenario, variant: Variant) -> list[str]:
        """Changes that a whole variant makes."""


SCREENS: Registry[Screen] = Registry("plenum.screens", "perturbation: a screen of wordings")


def rules() -> Screen:
    """The screen by rules, which every variant has to pass.

    Raises
    ------
    UserError
        No installed package has it.
    """
    return SCREENS["rules"]
