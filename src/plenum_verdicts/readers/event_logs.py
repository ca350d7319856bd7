"""What OpenAI's evals and EleutherAI's lm-eval write of each sample, in lines of JSON."""

from collections.abc import Mapping
from typing import Any

from plenum_verdicts.readers.fields import drop_missing, list_records, make_label, make_text
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_RESULTS = ("match", "metrics")
"""Types of events of OpenAI's evals that say how a sample ended."""


def _read_events(source: LogSource) -> Records:
    spec: Mapping[str, Any] = {}
    asked: dict[str, Any] = {}
    for place, event in list_records(source):
        spec = event.get("spec") or spec
        held = event.get("data")
        if not isinstance(held, Mapping):  # the head, or the final report
            continue
        if event.get("type") == "sampling":
            asked[event["sample_id"]] = held.get("prompt")
        elif event.get("type") in _RESULTS:
            yield place, {**event, **_row_of_event(event, held, spec, asked)}


def _row_of_event(
    event: Mapping[str, Any],
    held: Mapping[str, Any],
    spec: Mapping[str, Any],
    asked: Mapping[str, Any],
) -> dict[str, Any]:
    said = held.get("sampled", held.get("picked"))
    return drop_missing(
        case=make_text(event["sample_id"]),
        text=_text(asked.get(event["sample_id"])),
        decision=None if said is None else make_text(said),
        expected=held.get("expected"),
        right=held.get("correct"),
        scores=held if event["type"] == "metrics" else None,
        model=" ".join(map(str, spec.get("completion_fns") or [])) or None,
    )


def _text(prompt: Any) -> str | None:
    """Return what the user's messages say."""
    if isinstance(prompt, list):
        return "\n\n".join(make_text(m.get("content")) for m in prompt if m.get("role") == "user")
    return prompt and make_text(prompt)


def _read_samples(source: LogSource) -> Records:
    for place, sample in list_records(source):
        answers = sample["filtered_resps"]
        row = drop_missing(
            case=make_text(sample["doc_id"]),
            content=sample.get("doc"),
            text=make_label(sample.get("doc")),
            decision=make_text(answers[0] if len(answers) == 1 else answers),
            expected=sample.get("target"),
            scores={name: sample.get(name) for name in sample.get("metrics") or []},
        )
        yield place, {**sample, **row}


OPENAI_EVALS = LogReader(
    "openai_evals",
    "a log of OpenAI's evals",
    lambda source: "spec.completion_fns" in source.keys,
    _read_events,
    verdict="correct",
)
LM_EVAL = LogReader(
    "lm_eval",
    "samples of lm-eval",
    lambda source: {"doc_id", "filtered_resps"} <= {k.removeprefix("[].") for k in source.keys},
    _read_samples,
    one_of="filter",
)
