"""Measure models on this machine: the lockstep engine against transformers' generate, in one run.

    python scripts/bench/hosted.py [quick | full]   # the tiny model; some 6 minutes
    python scripts/bench/hosted.py real             # SmolLM2-135M; `make real` sets it up
    python scripts/bench/hosted.py gpu              # a model of Qwen2.5-7B's shape; needs a GPU
    python scripts/bench/hosted.py small            # the same code on the CPU, to try it

The tiny model: 40 replicates of HL-01 (20 wordings, roles on and off) deliberate at once.

- speedup_vs_single   tokens of answers per second, over those of `generate`, one prompt at a time
                      (the paper's way), on a sample of the same prompts
- speedup_vs_batched  the same over `generate` on left-padded batches of the 40 prompts of a turn
- prefill and decode  tokens per second of each way, apart; generate's prefill is one forward pass
                      over the prompts, its decode the rest of its time
- matmul_share        of the engine's prefill and decode: floating point operations of the real
                      tokens per second, over those of torch's own product of large matrices
- ci_benchmark_s      wall of `run.py -m +experiment=hosted_benchmark` with 2 scenarios and 6 rounds
- full_benchmark_s    with `full` only: all 480 deliberations of 20 rounds; about an hour

The engine is measured before and after the others. `quick` measures one round of each, and no
command line. What `real` and `gpu` measure stands in `hosting/real_model.py` and `hosting/gpu.py`.
"""

import os
import sys

from measuring import mode

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # torch reads it when it is imported


def main() -> None:
    """Measure what was asked for: a table for people, and one JSON line for machines."""
    size = mode(__doc__, "quick", "full", "real", "gpu", "small")
    from plenum.base.errors import UserError

    try:
        if size == "real":
            from hosting import real_model

            real_model.main()
        elif size in ("gpu", "small"):
            from hosting import gpu

            gpu.main(small=size == "small")
        else:
            from hosting import tiny_model

            tiny_model.main(size)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
