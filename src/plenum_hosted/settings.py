"""The settings of the backend ``hosted``: a model on this machine."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from plenum.design.ranges import Count, Int, match_rule
from plenum.design.settings import Backend

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Device = Annotated[str, match_rule("auto|cpu|cuda(:[0-9]+)?", "it is auto, cpu, cuda or cuda:N")]
Rows = Annotated[Int, Field(ge=1, le=4096)]
Bucket = Annotated[Int, Field(ge=8)]


@dataclass(frozen=True)
class Hosted(Backend):
    """Settings of the ``hosted`` backend; ``docs/hosted-backend.md`` explains them.

    ``slots`` rows decode together; ``prefill_rows`` prompts are prefilled together, in buckets of
    a multiple of ``bucket`` tokens; a row's cache holds a multiple of ``rung`` tokens. These are
    the shapes of every matrix, so that they can change the last bits of an answer. Where the model
    runs (``device``, ``threads``) and how much memory it may take are no identity: a journal names
    its environment instead.
    """

    elsewhere: ClassVar[tuple[str, ...]] = ("device", "threads", "prefix_cache_mb")
    holds_answers: ClassVar[bool] = True
    own_model: ClassVar[str] = "tiny"

    name: Literal["hosted"] = "hosted"
    dtype: Dtype = "float32"
    # For a CPU, which these defaults suit: a step computes all slots, filled or not. On a GPU more
    # rows take hardly longer (docs/hosted-backend.md).
    slots: Rows = 16
    prefill_rows: Rows = 1
    # Larger ones pad more tokens, smaller ones make more shapes; the same holds for `rung`, by
    # which rows decode together.
    bucket: Bucket = 16
    rung: Bucket = 256
    revision: str = "main"
    trust_remote_code: bool = False
    deterministic: bool = True
    device: Device = "auto"
    threads: Annotated[Int, Field(ge=1, le=1024)] = 2
    prefix_cache_mb: Count = 4096

    @property
    def rows(self) -> int:
        """Calls that are computed together."""
        return self.slots
