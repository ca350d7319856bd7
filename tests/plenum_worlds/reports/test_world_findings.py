"""The sentences after the tables of a study in worlds."""

from known_worlds import EXPLICIT, GREEDY, IMPLICIT, played

from plenum_worlds.reports import findings as of_worlds


def test_differences_of_worlds_are_adjusted_and_named() -> None:
    found = of_worlds.findings([IMPLICIT, EXPLICIT, GREEDY])
    (group,) = found["groups"]
    assert (group["metric"], group["tested"], found["scripted"]) == ("coverage", 2, True)
    assert group["shown"] == [
        "explicit: -0.300 [-0.484, -0.116], from 4 worlds",
        "scripted: greedy assignment: 0.250 [0.045, 0.455], from 4 worlds",
    ]
    (alone,) = of_worlds.findings([IMPLICIT])["groups"]
    assert (alone["tested"], alone["means"]) == (0, ["0.750 [0.545, 0.955] (implicit)"])
    text = " ".join(of_worlds.list_findings([IMPLICIT, EXPLICIT, GREEDY], noticed=True))
    assert text.startswith("World disaster: coverage was 0.750 [0.545, 0.955] (implicit); ")
    assert "Differences from free action: shown in both (explicit: -0.300" in text


def test_worlds_that_show_nothing_say_so() -> None:
    alike = played([0.9, 0.8, 0.6, 0.7], consensus="explicit")
    text = " ".join(of_worlds.list_findings([IMPLICIT, alike], noticed=True))
    assert "Differences from free action: not shown in the other arm (p = " in text
    assert "no scripted policy was run" in text
    nothing = " ".join(of_worlds.list_findings([played([], pending=3)], noticed=True))
    assert nothing.startswith("No run was completed.")
    assert nothing.endswith("Simulated agents: no evidence about language models.")
