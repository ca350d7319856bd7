"""Write the runs of two invented protocols, as docs/steady.md judges them: plain.csv, chair.csv.

python examples/two_protocols.py
python scripts/verdict.py 'steady=[plain.csv,chair.csv]' reference=plain
"""

import csv
import random

CASES, RUNS, WORDINGS = 200, 5, "xy"
STEADY = {"plain": 0.6, "chair": 0.95}
"""The share of runs that decide as their case mostly does."""

draw = random.Random(1)
for name, steady in STEADY.items():
    with open(f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["case", "wording", "run", "decision", "right", "cost"])
        for case in range(CASES):
            answer = "ABC"[case % 3]
            usual = "ABC"[(case + (case % 10 > 6)) % 3]  # three cases of ten are mostly wrong
            for wording in WORDINGS:
                for run in range(RUNS):
                    said = usual if draw.random() < steady else draw.choice("ABC")
                    table.writerow([case, wording, run, said, int(said == answer), 1])
