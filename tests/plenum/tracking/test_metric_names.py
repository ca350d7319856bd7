"""Metrics are named by seats, whose names may hold any text; MLflow takes and returns each."""

from pathlib import Path

from command_line import client, with_store
from hypothesis import given
from hypothesis import strategies as st
from mlflow.entities import Metric

from plenum.tracking.metric_names import decode_metric, encode_metric

SEATS = (
    *("O'Neil", 'the "boss"', "<b>x</b>", "हिन्दी", "a/../b", "a:27:b", "a'b", "a/b"),
    "Chair",
)


def test_seats_of_any_name_are_metrics_that_are_told_apart(
    empty_store: Path, tmp_path: Path
) -> None:
    mlflow = client(with_store(empty_store, tmp_path))
    run = mlflow.create_run(mlflow.create_experiment("seats")).info.run_id
    names = [f"more.switches.{seat}" for seat in (*SEATS, "x" * 300)]
    mlflow.log_batch(run, [Metric(encode_metric(name), 0.5, 0, 0) for name in names])
    kept = {decode_metric(key) for key in mlflow.get_run(run).data.metrics}
    assert kept >= {*names[:-1]}  # a very long one loses its end
    assert len(kept) == len(names)


@given(st.text(max_size=40))
def test_a_name_is_read_as_it_was_written(name: str) -> None:
    assert decode_metric(encode_metric(f"more.switches.{name}")) == f"more.switches.{name}"
