"""Other rules on recorded runs, and live ones, from the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import call, logged

from plenum.tracking.study import Study
from plenum_rules.aggregation import AGGREGATIONS, NONE
from plenum_rules.recorded_runs import read_recorded

OPEN = ("rounds=5", "replicates=8", "scenario=IM-01", "temperature=t0.7", "model=mixed")
"""Few rounds of a committee whose replicates part."""


@pytest.mark.long
def test_rules_of_a_study_are_printed_written_and_logged(tmp_path: Path) -> None:
    call(tmp_path, "run.py", "-m", "roles=on,off", "study=open", *OPEN)
    printed = call(tmp_path, "scripts/tables.py", "study=open", "rules=all").stdout
    rules = pd.read_csv(tmp_path / "outputs/open/rules.csv").set_index("rule")
    cells = pd.read_csv(tmp_path / "outputs/open/rules_conditions.csv")
    assert "simulated agents, no evidence about language models" in printed
    assert (tmp_path / "outputs/open/rules.png").stat().st_size > 10_000
    assert {"rules.csv", "rules_conditions.csv", "rules.png", "rules.md"} <= logged(
        tmp_path, "open"
    )
    # The protocol is the majority of ballots, so that this rule changes nothing.
    assert rules.loc["majority", ["difference", "changed"]].tolist() == [0, 0]
    assert rules.loc["constant", "disagreement"] == 0
    assert rules.loc["vote_of_3", "conditions"] == 2
    assert rules.loc["vote_of_5", "conditions"] == 0  # eight runs are no two votes of five
    assert np.isclose(rules["tokens"]["round_5"], 1)
    assert 0 < rules["tokens"]["round_1"] < rules["tokens"]["round_3"] < 1
    mean = cells[cells["rule"] == "mean"]
    assert np.isclose(rules.loc["mean", "difference"], mean["difference"].mean())
    assert rules["like_low"].isna().all()  # one scenario tells nothing of others


@pytest.mark.long
def test_a_live_committee_decides_as_the_rule_on_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*sorted(set(AGGREGATIONS) - {"majority", "states"}), "clerk"]
    decision = f"protocol.decision={','.join(names)}"
    call(tmp_path, "run.py", "-m", decision, "study=live", *OPEN)
    monkeypatch.chdir(tmp_path)
    found = list(read_recorded(Study("live", "sqlite:///mlruns/mlflow.db")))
    assert len(found) == len(names)
    for recorded in found:
        settings = recorded.condition.factors["settings"]
        rule = settings.split("decision=")[1].split()[0]
        expected = recorded.clerk if rule == "clerk" else AGGREGATIONS[rule](recorded.last)
        assert recorded.decided.tolist() == expected.tolist()
        assert set(recorded.decided.tolist()) - {NONE}


@pytest.mark.long
def test_what_cannot_be_applied_is_refused_in_a_line(tmp_path: Path) -> None:
    call(tmp_path, "run.py", "study=two", "rounds=2", "replicates=2")
    call(tmp_path, "run.py", "study=world", "task=disaster", "rounds=2", "replicates=3")
    for given, said in (
        (("study=two", "rules=all"), "three completed runs"),
        (("study=two", "rules=oracle"), "stable_3"),
        (("study=none_such", "rules=all"), "none_such"),
        (("rules=all",), "study"),
        (("study=world", "rules=all"), "only for committees"),
    ):
        refused = call(tmp_path, "scripts/tables.py", *given, status=2)
        assert said in refused.stderr.strip().splitlines()[-1]
    assert not (tmp_path / "outputs/two/rules.csv").exists()
