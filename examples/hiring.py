"""A hiring committee in plain Python with OpenAI's client: rounds of speaking, then a vote.

python scripts/audit.py committee=examples/hiring.py:committee case=examples/cases
"""

from openai import OpenAI
from panel import MODEL, RULE, SEATS, majority, vote
from plenum_run import Case, Decision, Run


def committee(case: Case, run: Run) -> Decision:
    """Each seat speaks in turn and sees the last messages; the votes of the last round decide."""
    client = OpenAI(base_url=run.base_url, api_key=run.token)
    options = "\n".join(f"{label}: {name}" for label, name in case.options.items())
    task = f"{case.text}\n\nOptions:\n{options}"
    transcript: list[str] = []
    votes: dict[str, str | None] = {}
    for number in range(1, run.knobs.get("rounds", 2) + 1):
        for seat, role in SEATS.items():
            heard = transcript[-run.knobs.get("memory", 6) :]
            reply = client.chat.completions.create(
                model=MODEL,
                messages=[
                    {"role": "system", "content": f"{role} {RULE}"},
                    {"role": "user", "content": "\n\n".join([task, *heard])},
                ],
                temperature=0.7,
                extra_headers={"X-Plenum-Seat": seat},
            )
            text = reply.choices[0].message.content or ""
            run.say(number, seat, text)
            transcript.append(f"{seat}: {text}")
            votes[seat] = vote(text, case.options)
    return Decision(majority(votes.values()))


committee.knobs = {"rounds": [2, 1, 3], "memory": [6, 3]}  # the usual value first
