"""Run in inspect's environment: evaluate a task with its mock model, and print what came of it."""

import json
import sys

from inspect_ai import Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, precomputed_scores
from inspect_ai.solver import multiple_choice, solver


def answers(answer):
    """A solver that gives each sample's answer of the epoch."""

    @solver
    def answering():
        async def solve(state, generate):
            letter = answer(state.sample_id, state.epoch)
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


def main(folder, epochs):
    task = Task(
        dataset=SAMPLES,
        solver=answers(lambda name, epoch: "AB"[epoch % 2] if name == "bridge" else "A"),
        scorer=choice(),
        epochs=epochs,
    )
    (log,) = eval(task, model="mockllm/model", log_dir=str(folder), max_samples=1, display="none")
    print(json.dumps({"log": log.location}))


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
        main(sys.argv[2], int(sys.argv[3]))
