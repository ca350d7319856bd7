"""Private facts of a case, each given to the seat that it is for."""

from collections.abc import Sequence
from dataclasses import replace

from plenum.base.errors import UserError
from plenum.committee.condition import Seat
from plenum.committee.frame import CONSTRAINED, PLENUM, Frame
from plenum.design.ranges import require
from plenum.scenarios.scenario import Scenario


def require_facts(scenario: Scenario, frame: Frame, name: str) -> None:
    """Refuse private facts that the prompts have no words for, and all facts of a case without any.

    Parameters
    ----------
    frame, name
        The frame of the prompts, and the name of their set.

    Raises
    ------
    UserError
        The case has none, or the prompts aren't plenum's.
    """
    require(
        bool(scenario.private),
        f"protocol.facts: all, but scenario {scenario.id} has no private facts",
    )
    require(
        frame in (PLENUM, CONSTRAINED),
        f"scenario: {scenario.id} has private facts, but the prompts {name} have no words for "
        "them; use prompts=plenum",
    )


def give_facts(seats: Sequence[Seat], scenario: Scenario, shared: bool) -> tuple[Seat, ...]:
    """Give seats the private facts of a case.

    Parameters
    ----------
    seats
        As the design lists them, which is how facts number them.
    shared
        True if each seat is to have the facts of all.

    Returns
    -------
    tuple of Seat
        The same seats; a committee of one seat, the reference of an agent alone, goes without the
        facts of the others.

    Raises
    ------
    UserError
        A fact is for a seat that the committee doesn't have, or a seat is listed twice.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from plenum.committee.condition import Seat
    >>> from plenum.committee.facts import give_facts
    >>> case = SimpleNamespace(private=(("Chair", ("It rains.",)), (2, ("It is cold.",))))
    >>> seats = [Seat("Chair", "Chair", "", "m"), Seat("Rights", "Rights", "", "m")]
    >>> [seat.facts for seat in give_facts(seats, case, shared=False)]
    [('It rains.',), ('It is cold.',)]
    >>> give_facts(seats[:1], case, shared=True)[0].facts
    ('It rains.', 'It is cold.')
    """
    if shared:
        every = tuple(fact for _, facts in scenario.private for fact in facts)
        return tuple(replace(seat, facts=every) for seat in seats)
    names = [seat.name for seat in seats]
    given: dict[str, tuple[str, ...]] = {}
    for key, facts in scenario.private:
        known = key in names or (isinstance(key, int) and key <= len(names))
        if not known and len(names) > 1:
            raise UserError(
                f"scenario: {scenario.id} has private facts for seat {key}, but the seats are "
                f"{', '.join(names)}; roles.agents sets how many there are"
            )
        name = names[key - 1] if known and isinstance(key, int) else str(key)
        if name in given:
            raise UserError(f"scenario: {scenario.id} has private facts for {name} twice")
        given[name] = facts
    return tuple(replace(seat, facts=given.get(seat.name, ())) for seat in seats)
