"""What OpenAI's evals and EleutherAI's lm-eval write of each sample, in lines of JSON."""

from collections.abc import Mapping
from typing import Any

from plenum_verdicts.readers.fields import drop_missing, list_records, make_label, make_text
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records


def _read_events(source: LogSource) -> Records:
    models = None
    for place, event in list_records(source):
        if spec := event.get("spec"):
            models = " ".join(map(str, spec.get("completion_fns") or [])) or None
        # Other events are calls of the model on the way, the head, and the final report.
        if event.get("type") in ("match", "metrics"):
            yield place, {**event, **_row_of_event(event, event["data"]), "model": models}


def _row_of_event(event: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
    said = held.get("sampled", held.get("picked"))
    return drop_missing(
        case=make_text(event["sample_id"]),
        decision=None if said is None else make_text(said),
        expected=held.get("expected"),
        right=held.get("correct"),
        scores=held if event["type"] == "metrics" else None,
    )


def _read_samples(source: LogSource) -> Records:
    for place, sample in list_records(source):
        answers = sample["filtered_resps"]
        row = drop_missing(
            case=make_text(sample["doc_id"]),
            content=sample.get("doc"),
            text=make_label(sample.get("doc")),
            decision=make_text(answers[0] if len(answers) == 1 else answers),
            scores={name: sample.get(name) for name in sample.get("metrics") or []},
        )
        yield place, {**sample, **row}


def _is_sample(source: LogSource) -> bool:
    return {"doc_id", "filtered_resps"} <= {key.removeprefix("[].") for key in source.keys}


OPENAI_EVALS = LogReader(
    "openai_evals",
    "a log of OpenAI's evals",
    lambda source: "spec.completion_fns" in source.keys,
    _read_events,
    verdict="correct",
)
LM_EVAL = LogReader("lm_eval", "samples of lm-eval", _is_sample, _read_samples, one_of="filter")
