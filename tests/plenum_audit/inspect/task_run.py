"""Run in inspect's environment: evaluate a task with its mock model, and print what came of it."""

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, precomputed_scores
from inspect_ai.solver import multiple_choice, solver

from plenum_audit.inspect import StopWhenDecided


def answers(answer):
    """A solver that gives each sample's answer of the epoch, and fails where it is an error."""

    @solver
    def answering():
        async def solve(state, generate):
            letter = answer(state.sample_id, state.epoch)
            if letter == "error":
                raise RuntimeError("the provider is down")
            output = ModelOutput.from_content("mockllm", f"ANSWER: {letter}")
            output.usage = ModelUsage(input_tokens=9, output_tokens=2, total_tokens=11)
            model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
            return await multiple_choice()(state, lambda s, **_: _generate(model, s))

        return solve

    return answering()


async def _generate(model, state):
    state.output = await model.generate(state.messages)
    state.messages.append(state.output.message)
    return state


SAMPLES = [
    Sample(id=name, input=f"Which bid for the {name}?", choices=["Alder", "Birch"], target="A")
    for name in ("roof", "well", "bridge")
]
PLANS = {
    "mixed": lambda name, epoch: "AB"[epoch % 2] if name == "bridge" else "A",
    "stable": lambda name, epoch: "A",
    "failing": lambda name, epoch: "error" if (name, epoch) == ("well", 3) else "A",
}


def main(folder, plan, epochs, **settings):
    early = StopWhenDecided(**settings) if settings.pop("stop", True) else None
    task = Task(
        dataset=SAMPLES,
        solver=answers(PLANS[plan]),
        scorer=choice(),
        epochs=epochs,
        early_stopping=early,
    )
    (log,) = eval(
        task,
        model="mockllm/model",
        log_dir=str(folder),
        max_samples=1,
        display="none",
        fail_on_error=False,
    )
    stopping = log.results.early_stopping
    ran = {}
    for sample in read_eval_log(log.location).samples:
        ran[sample.id] = ran.get(sample.id, 0) + 1
    print(
        json.dumps(
            {
                "log": log.location,
                "status": log.status,
                "ran": ran,
                "manager": stopping and stopping.manager,
                "stopped": stopping and [[s.id, s.epoch, s.reason] for s in stopping.early_stops],
                "metadata": stopping and stopping.metadata,
            }
        )
    )


def rescored(log, scores):
    """Print the values of the scores in a file by sample and epoch, and their accuracy."""
    found = score(
        read_eval_log(log), precomputed_scores(scores), action="overwrite", display="none"
    )
    (held,) = found.results.scores
    values = {f"{s.id} {s.epoch}": s.scores[held.name].value for s in found.samples}
    about = {s.id: s.scores[held.name].metadata for s in found.samples}
    print(json.dumps([values, held.metrics["accuracy"].value, about]))


if __name__ == "__main__":
    if sys.argv[1] == "score":
        rescored(*sys.argv[2:])
    else:
        main(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), **json.loads(sys.argv[5]))
