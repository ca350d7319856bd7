"""The settings that a condition or a job is made of, with the values that each may have."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from plenum.design.ranges import Choice, Pattern, Range, Share, Urls

DTYPES = ("auto", "float32", "bfloat16", "float16")
TRANSPORTS = ("lean", "litellm")
ORDERS = ("listed", "random")
INITIAL_STATES = ("none", "even")
ANSWER_FORMS = ("analysis_first", "action_first")
REPORTS = ("shared", "private")
ACTS = ("shown", "hidden")

Positive = Annotated[float, Range(0, above=True)]
Probability = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(1)]
NotNegative = Annotated[float, Range(0)]
Limit = Annotated[int | None, Range(1)]
Dollars = Annotated[float | None, Range(0)]
Device = Annotated[str, Pattern("auto|cpu|cuda(:[0-9]+)?", "it is auto, cpu, cuda or cuda:N")]


@dataclass(frozen=True)
class Protocol:
    """The deliberation protocol: who speaks when, and what a prompt shows of the discussion."""

    window: Count = 15
    argument_words: Count = 110
    interaction: bool = True
    """Whether a seat reads the others; without it each one knows only what it said itself."""
    feedback: bool = True
    """Whether prompts show arguments; without them the committee table is all that goes round."""
    order: Annotated[str, Choice(ORDERS)] = "listed"
    """Who speaks when: as the seats are listed, or as it is drawn from scenario and seed alone."""
    round_lines: bool = False
    """Whether a turn names its round, and the last one asks for a final word."""
    initial_state: Annotated[str, Choice(INITIAL_STATES)] = "none"
    """Which state the table shows of a seat that has not spoken: none, or an even one."""

    @property
    def name(self) -> str:
        """The level of the factor ``protocol``."""
        if not self.interaction:
            return "one_shot"
        return "deliberation" if self.feedback else "no_feedback"

    def identified(self) -> dict[str, Any]:
        """What of it is part of an identity: what has its usual value is left out.

        Identities are older than the other settings.
        """
        return {
            key: value
            for key, value in asdict(self).items()
            if key in ("window", "argument_words") or value != getattr(Protocol, key)
        }


@dataclass(frozen=True)
class Sampling:
    """How a model samples."""

    temperature: NotNegative = 0.0
    max_tokens: Count = 400


@dataclass(frozen=True)
class Simulated:
    """Knobs of the simulated backend; ``docs/simulated-backend.md`` has the equations."""

    name: str = "simulated"
    gain: NotNegative = 1.0
    coupling: NotNegative = 1.0
    noise: Probability = 0.05
    malformed_rate: Probability = 0.0
    refusal_rate: Probability = 0.0
    timeout_rate: Probability = 0.0
    rate_limit_rate: Probability = 0.0


@dataclass(frozen=True)
class Api:
    """Settings of the ``api`` backend that can change an answer.

    ``api_base`` is a URL by provider, or a list of URLs: a fleet of servers of the same models.
    """

    name: str = "api"
    api_base: dict[str, Annotated[Any, Urls()]] = field(default_factory=dict)
    send_seed: bool = False

    @property
    def fleets(self) -> dict[str, tuple[str, ...]]:
        """The URLs by provider, as far as there are any."""
        listed = {p: [urls] if isinstance(urls, str) else urls for p, urls in self.api_base.items()}
        return {provider: tuple(urls) for provider, urls in listed.items() if urls and urls[0]}


@dataclass(frozen=True)
class Hosted:
    """Settings of the ``hosted`` backend; ``docs/hosted-backend.md`` explains them.

    ``slots`` rows decode together; ``prefill_rows`` prompts are prefilled together, in buckets of
    a multiple of ``bucket`` tokens; a row's cache holds a multiple of ``rung`` tokens. These are
    the shapes of every matrix, so that they can change the last bits of an answer. Where the model
    runs (``device``, ``threads``) and how much memory it may take are no identity: a journal names
    its environment instead.
    """

    name: str = "hosted"
    dtype: Annotated[str, Choice(DTYPES)] = "float32"
    slots: Annotated[int, Range(1, 4096)] = 16
    prefill_rows: Annotated[int, Range(1, 4096)] = 1
    bucket: Annotated[int, Range(8)] = 16
    rung: Annotated[int, Range(8)] = 256
    revision: str = "main"
    trust_remote_code: bool = False
    deterministic: bool = True
    device: Device = "auto"
    threads: Annotated[int, Range(1, 1024)] = 2
    prefix_cache_mb: Count = 4096


@dataclass(frozen=True)
class Information:
    """What the agents of a world see and hear: by default everybody all of it.

    ``docs/worlds.md`` says what each one does; ``hears`` is a topology by name, or lists of agents.
    """

    sight: Probability = 1.0
    delivered: Probability = 1.0
    reports: Annotated[str, Choice(REPORTS)] = "shared"
    acts: Annotated[str, Choice(ACTS)] = "shown"
    hears: Any = "all"
    lost: Probability = 0.0


@dataclass(frozen=True)
class Recorded:
    """Runs that somebody else made and logged: nothing is called, and nothing was controlled."""

    name: str = "logs"


Backend = Simulated | Api | Hosted | Recorded

HOSTED_ELSEWHERE = ("device", "threads", "prefix_cache_mb")
"""Settings that the environment's fingerprint covers, or that change nothing."""


@dataclass(frozen=True)
class Calls:
    """How calls are made: none of this can change an answer, so none of it is identity.

    ``max_concurrency`` bounds the replicates in flight, and with them the calls to each provider;
    within it the limit adapts. ``rpm`` and ``tpm`` are requests and tokens per minute by provider.
    ``max_wait_s`` is for how long a provider that asks for it is left alone; where it asks for
    longer, nothing more is sent to it.
    ``max_response_mb`` bounds the decoded body of one answer, in millions of bytes.
    ``batch``: calls go in batches, at half the price.
    """

    max_concurrency: Count = 1000
    start_concurrency: Count = 32
    adapt: bool = True
    rpm: dict[str, Limit] = field(default_factory=dict)
    tpm: dict[str, Limit] = field(default_factory=dict)
    timeout_s: Positive = 120.0
    idle_timeout_s: Positive = 60.0
    max_attempts: Count = 6
    backoff_s: NotNegative = 1.0
    backoff_max_s: NotNegative = 60.0
    max_wait_s: NotNegative = 900.0
    max_response_mb: Count = 32
    transport: Annotated[str, Choice(TRANSPORTS)] = "lean"
    batch: bool = False


@dataclass(frozen=True)
class Batch:
    """For how many seconds a batch is waited for, and how many lie between looks at it."""

    wait_s: Positive = 86_400.0
    poll_s: Positive = 30.0


@dataclass(frozen=True)
class StatedPrice:
    """A model's price as the user states it, in US dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    written: float | None = None


@dataclass(frozen=True)
class Budget:
    """What a sweep may use up, over all its runs; ``None`` is without limit."""

    dollars: Dollars = None
    tokens: Annotated[int | None, Range(0)] = None
    calls: Annotated[int | None, Range(0)] = None

    @property
    def limited(self) -> bool:
        """Whether anything is limited."""
        return any(limit is not None for limit in (self.dollars, self.tokens, self.calls))


@dataclass(frozen=True)
class Workers:
    """How many workers ``hydra/launcher=ray`` starts, and what each takes of the cluster.

    ``number`` is as many as fit, where it isn't set. A hosted model runs once a worker.
    """

    number: Limit = None
    cpus: Annotated[float, Share()] = 1.0
    gpus: Annotated[float, Share(apart=True)] = 0.0


@dataclass(frozen=True)
class Ray:
    """The cluster to join, as ``host:port`` or ``auto``; without one, one on this machine."""

    address: Annotated[
        str | None,
        Pattern(r"auto|local|ray://.*|(\[.+\]|[^\s/:]+):[0-9]+", "it is HOST:PORT, auto or null"),
    ] = None


@dataclass(frozen=True)
class Branch:
    """Continuations of other replicates: ``continuations`` of each of ``bases``, after a round."""

    bases: int
    after_round: int
    continuations: int
