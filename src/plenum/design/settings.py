"""The settings that a condition or a job is made of, with the values that each may have."""

from dataclasses import InitVar, asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from plenum.design.ranges import (
    Count,
    Fraction,
    Int,
    NotNegative,
    Positive,
    Probability,
    RequestFields,
    StrictSettings,
    Urls,
)

Amount = Annotated[Int, Field(ge=0)]


@dataclass(frozen=True)
class Protocol(StrictSettings):
    """The order of speaking in a deliberation, and what a prompt shows of it.

    Attributes
    ----------
    window
        Latest arguments that a turn reads.
    argument_words
        Length that the prompt asks for.
    exchange
        What a seat reads of the others.

        ``reasons``: arguments and the table of states; ``stance``: the table; ``reflection``: its
        own arguments, to reflect on; ``placebo``: the table, and text of another case for
        arguments; ``none``: its own arguments.
    interaction, feedback
        Older names; ``false``: ``exchange=none``, ``exchange=stance``.
    order
        Order of speaking; a random one is drawn from scenario and seed.

        ``simultaneous``: all seats of a round answer from the state at its beginning.
    round_lines
        A turn names its round; the last asks for a final word.
    initial_state
        What the table shows of a seat before its first turn.
    answers
        ``constrained``: JSON that the backend enforces.
    decision
        Rule that decides.
    reading
        How answers are read; always ``strict`` for simulated agents and ``prompts=published``.

        ``lenient``: whatever has one meaning; ``strict``: the prescribed form alone.
    moderator
        Sums up each round, or asks what only a seat has seen.

        The sum stands in place of the arguments.
    step
        Total variation by which a state moves at most in a round.
    facts
        Private facts that a seat reads: its own, or all.
    majority
        Scripts all seats but the last to argue for one option.

        ``conformity``: a wrong one; from round 2 on ``correction``: the answer, or ``subversion``:
        a wrong one.
    """

    window: Count = 15
    argument_words: Count = 110
    exchange: Literal["reasons", "stance", "reflection", "placebo", "none"] = "reasons"
    interaction: InitVar[bool | None] = None
    feedback: InitVar[bool | None] = None
    order: Literal["listed", "random", "simultaneous"] = "listed"
    round_lines: bool = False
    initial_state: Literal["none", "even"] = "none"
    answers: Literal["free", "constrained"] = "free"
    decision: str = "majority"
    reading: Literal["lenient", "strict"] = "lenient"
    moderator: Literal["none", "summary", "discloser"] = "none"
    step: Fraction = 1.0
    facts: Literal["private", "all"] = "private"
    majority: Literal["none", "conformity", "correction", "subversion"] = "none"

    def __post_init__(self, interaction: bool | None, feedback: bool | None) -> None:
        """Read the older names.

        Raises
        ------
        ValueError
            One says something else than ``exchange``, or than the other one.
        """
        for name, value, means, denied in (
            ("interaction", interaction, "none", ("none", "reflection")),
            ("feedback", feedback, "stance", ("stance",)),
        ):
            # An older name chooses the exchange only where that is the usual one: an option such as
            # protocol=placebo with feedback=false is a contradiction, and refused below.
            if value is False and self.exchange == "reasons":
                object.__setattr__(self, "exchange", means)
            fits = self.exchange not in denied if value else self.exchange == means
            if value is not None and not fits:
                raise ValueError(
                    f"protocol.{name}={str(value).lower()} goes with no exchange={self.exchange}; "
                    "give exchange alone: none is protocol=one_shot, stance protocol=no_feedback"
                )

    @property
    def alone(self) -> bool:
        """True if a seat reads nothing but what it said itself."""
        return self.exchange in ("none", "reflection")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that differ from the usual protocol, each by its level in tables."""
        known = {"stance": "no_feedback", "none": "one_shot"}
        changed = {
            known.get(self.exchange, self.exchange): self.exchange != "reasons",
            self.moderator: self.moderator != "none",
            self.order: self.order == "simultaneous",
            f"step{self.step:g}": self.step < 1,
            "all_facts": self.facts == "all",
            self.majority: self.majority != "none",
        }
        return tuple(part for part, differs in changed.items() if differs)

    @property
    def name(self) -> str:
        """The level of the factor ``protocol``."""
        return "+".join(self.parts) or "deliberation"

    def list_changed(self) -> dict[str, Any]:
        """Return the settings that are part of an identity, without those at their usual value.

        Identities are older than the other settings, and than the name of an exchange.
        """
        changed = (
            (key, value)
            for key, value in asdict(self).items()
            if key in ("window", "argument_words")
            or (key != "reading" and value != getattr(Protocol, key))  # a condition resolves it
        )
        return dict(_OLDER.get(setting, setting) for setting in changed)


_OLDER = {
    ("exchange", "none"): ("interaction", False),
    ("exchange", "stance"): ("feedback", False),
}
"""Settings of a protocol that identities and journals have under an older name."""


@dataclass(frozen=True)
class Sampling(StrictSettings):
    """Parameters of a model's sampling.

    Attributes
    ----------
    temperature, max_tokens
        Sent with every call.
    """

    temperature: NotNegative = 0.0
    max_tokens: Count = 400


@dataclass(frozen=True)
class ModelConfig(StrictSettings):
    """The model of each seat and of the clerk.

    Attributes
    ----------
    default : a name of LiteLLM's
        Model of those who have none of their own.
    seats : a model by seat
        Models of seats.
    clerk : a name of LiteLLM's
        Model of the clerk.
    dtype
        Precision with ``backend=hosted``.
    window
        ``protocol.window`` with ``memory=auto``.
    """

    name: str = ""
    default: str | None = None
    seats: dict[str, str | None] = field(default_factory=dict)
    clerk: str | None = None
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    window: Count = 15


@dataclass(frozen=True)
class Backend(StrictSettings):
    """The source of answers.

    Attributes
    ----------
    elsewhere
        Fields that are no part of an identity, since they change no answer, or since the
        environment's fingerprint covers them.
    charged
        True if its calls have a price: a budget in dollars then holds back what one may cost.
    holds_answers
        True if it holds an answer to the schema that a call names
        (:attr:`plenum.calls.chat.Chat.answer`).
    own_model
        A model of its own, where requests of audited programs can't name one.
    """

    elsewhere: ClassVar[tuple[str, ...]] = ()
    charged: ClassVar[bool] = False
    holds_answers: ClassVar[bool] = False
    own_model: ClassVar[str] = ""

    name: str

    @property
    def rows(self) -> int:
        """Calls that are computed together, in the time of one; 1 where each takes its own."""
        return 1

    def collect_identity(self) -> dict[str, Any]:
        """Return the settings that are part of an identity."""
        return {key: value for key, value in asdict(self).items() if key not in self.elsewhere}


@dataclass(frozen=True)
class Simulated(Backend):
    """Knobs of the simulated backend; ``docs/simulated-backend.md`` has the equations.

    Attributes
    ----------
    gain, coupling
        Weights of the prompt, and of the others' arguments in it.
    noise
        Probability of a random deviation in a turn.
    malformed_rate, refusal_rate, timeout_rate, rate_limit_rate
        Shares of calls that fail in this way.
    """

    name: Literal["simulated"] = "simulated"
    gain: NotNegative = 1.0
    coupling: NotNegative = 1.0
    noise: Probability = 0.05
    malformed_rate: Probability = 0.0
    refusal_rate: Probability = 0.0
    timeout_rate: Probability = 0.0
    rate_limit_rate: Probability = 0.0


@dataclass(frozen=True)
class Api(Backend):
    """Settings of the ``api`` backend that can change an answer.

    Attributes
    ----------
    api_base : a URL, or a list, by provider
        Your own endpoint, or a fleet of servers of the same models.
    send_seed
        Send a seed with each call.
    answer_form
        Form of the schema of constrained answers.
    extra : ``'+backend.extra={NAME:VALUE}'``
        Further fields of requests.

        One that is ``null`` isn't sent.
    max_tokens_field
        Field that bounds an answer.
    stream
        Ask for answers in pieces.
    """

    charged: ClassVar[bool] = True
    holds_answers: ClassVar[bool] = True

    name: Literal["api"] = "api"
    api_base: dict[str, Urls] = field(default_factory=dict)
    send_seed: bool = False
    answer_form: Literal["auto", "json_schema", "json_object", "structured_outputs"] = "auto"
    extra: RequestFields = field(default_factory=dict)
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream: bool = False

    @property
    def fleets(self) -> dict[str, tuple[str, ...]]:
        """The URLs by provider, as far as there are any."""
        listed = {p: [urls] if isinstance(urls, str) else urls for p, urls in self.api_base.items()}
        return {provider: tuple(urls) for provider, urls in listed.items() if urls and urls[0]}

    def collect_identity(self) -> dict[str, Any]:
        """Return the settings that are part of an identity.

        Endpoints that aren't set are left out: listing another provider is no other condition. A
        fleet is named by the first of its servers: others may come and go.
        """
        values = super().collect_identity()
        values["api_base"] = {provider: urls[0] for provider, urls in self.fleets.items()}
        default = asdict(Api())
        for name in ("answer_form", "extra", "max_tokens_field", "stream"):
            if values[name] == default[name]:  # identities are older than these settings
                del values[name]
        return values


@dataclass(frozen=True)
class Calls(StrictSettings):
    """Limits and transport of calls; they can't change an answer, so they are no identity.

    Attributes
    ----------
    max_concurrency
        Replicates in flight in a sweep, and calls to a provider.
    start_concurrency, adapt
        Calls to a provider at first; whether the limit then adapts.
    rpm, tpm : by provider
        Requests and tokens in any minute; a model's own: ``'+calls.rpm={openai/gpt-4o:500}'``.
    timeout_s, idle_timeout_s
        Seconds: of an attempt; to connect, or of silence.
    max_attempts
        Attempts at a call.
    backoff_s, backoff_max_s
        Seconds: scale and longest wait before an attempt.
    max_wait_s
        Seconds that a provider may ask to wait; more end the sweep.
    patience
        Seconds to wait for a server that isn't there yet.
    max_response_mb
        Decoded megabytes of an answer that are read.
    transport
        ``litellm``: no lean path.
    batch
        Calls go in batches, at half the price, to openai and anthropic.
    """

    max_concurrency: Count = 1000
    start_concurrency: Count = 32
    adapt: bool = True
    rpm: dict[str, Count | None] = field(default_factory=dict)
    tpm: dict[str, Count | None] = field(default_factory=dict)
    timeout_s: Positive = 120.0
    idle_timeout_s: Positive = 60.0
    max_attempts: Count = 6
    backoff_s: NotNegative = 1.0
    backoff_max_s: NotNegative = 60.0
    max_wait_s: NotNegative = 900.0
    patience: NotNegative = 120.0
    max_response_mb: Count = 32
    transport: Literal["lean", "litellm"] = "lean"
    batch: bool = False


@dataclass(frozen=True)
class StatedPrice(StrictSettings):
    """A model's price as the user states it, in US dollars per million tokens."""

    input: NotNegative
    output: NotNegative
    cached: NotNegative | None = None
    written: NotNegative | None = None


@dataclass(frozen=True)
class Budget(StrictSettings):
    """Limits on the use of a sweep over all its runs; ``None`` means no limit.

    Attributes
    ----------
    dollars, tokens, calls
        What the sweep may use up, over all its runs.
    """

    dollars: NotNegative | None = None
    tokens: Amount | None = None
    calls: Amount | None = None

    @property
    def limited(self) -> bool:
        """True if there is any limit."""
        return any(limit is not None for limit in (self.dollars, self.tokens, self.calls))


@dataclass(frozen=True)
class Branch:
    """Continuations of other replicates: ``continuations`` of each of ``bases``, after a round."""

    bases: int
    after_round: int
    continuations: int
