"""Batches of rows that decode together: a fixed number of slots, some of them empty."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from plenum_hosted.attention import DecodingPlaces, Places
from plenum_hosted.forms import Form
from plenum_hosted.network import Network
from plenum_hosted.shapes import Room


@dataclass(eq=False)
class DecodingRow:
    """A prompt and its answer so far.

    Parameters
    ----------
    prefix, rest
        Tokens of the prompt: the part shared with other prompts, and the rest, at least one.
    room
        Where the row's tokens lie in a cache.
    limit
        Maximal number of tokens of the answer.
    temperature, noise
        At temperature 0 the likeliest token is taken; otherwise ``noise`` draws what is added to
        the logits.
    scored
        Whether to keep the log-probabilities of the answer's tokens.
    done
        Called with the row once its answer has ended.
    form
        Allows the tokens of a constrained answer; ``None`` if the answer is free.

    Attributes
    ----------
    answer, scores
        Its tokens so far, and the log-probability of each, if it is scored.
    finish
        ``stop``, ``cut`` (the same, but its argument was closed for want of tokens) or ``length``;
        empty while the answer grows.
    error
        The exception that broke the engine before the answer ended.
    arrived
        The engine's step at which the row arrived.
    given_up
        True if the caller no longer waits for the answer.
    """

    prefix: tuple[int, ...]
    rest: tuple[int, ...]
    room: Room
    limit: int
    temperature: float
    noise: np.random.Generator
    scored: bool
    done: Callable[["DecodingRow"], None]
    form: Form | None = None
    answer: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    finish: str = ""
    error: BaseException | None = None
    arrived: int = 0
    given_up: bool = False


class DecodingBatch:
    """A batch of slots whose caches have the same capacity.

    Parameters
    ----------
    network
        The model.
    slots
        Number of slots; all of them are computed in every step.
    capacity
        Places of each cache.
    stops
        Tokens that end an answer.

    Attributes
    ----------
    rows
        The rows under way, by slot.
    free
        Empty slots; the next row takes the last one.
    """

    def __init__(self, network: Network, slots: int, capacity: int, stops: frozenset[int]) -> None:
        self._network, self._stops = network, stops
        self._slots = DecodingPlaces(*network.empty(slots, capacity))
        self._tokens = torch.zeros(slots, dtype=torch.long, device=network.device)
        self._positions = torch.zeros_like(self._tokens)
        self._under_way = torch.zeros_like(self._tokens)  # 1 where a row decodes, else 0
        self._mask = network.make_mask(slots, 1, capacity)
        self._mask[..., 0] = 0  # an empty slot sees one place: a softmax over none is no number
        # The position in its row's text that each place of a cache holds.
        self._at = network.positions([0] * slots, 0, capacity)
        self._every_slot = torch.arange(slots, device=network.device)
        self.rows: dict[int, DecodingRow] = {}
        # Backwards, so that `pop` gives the first slot first.
        self.free = list(range(slots))[::-1]

    def place(self, row: DecodingRow, prefilled: Places | None, number: int) -> None:
        """Give a row a slot; its prompt is row ``number`` of ``prefilled``."""
        slot = self.free.pop()
        self.rows[slot] = row
        # The last token of the prompt isn't in the cache yet: the first step puts it there.
        ahead, cached = row.room.prefix, len(row.rest) - 1
        filled = 0
        if prefilled is not None:
            filled = prefilled.keys.shape[3]
            self._slots.keys[:, slot, :, :filled] = prefilled.keys[:, number]
            self._slots.values[:, slot, :, :filled] = prefilled.values[:, number]
        # What the last row left behind is masked, but 0 times no number is no number.
        self._slots.keys[:, slot, :, filled:] = 0
        self._slots.values[:, slot, :, filled:] = 0
        self._mask[slot] = float("-inf")
        self._mask[slot, ..., : len(row.prefix)] = 0
        self._mask[slot, ..., ahead : ahead + cached] = 0
        self._slots.at[slot] = ahead + cached
        self._at[slot] = self._network.positions([len(row.prefix)], ahead, self._at.shape[1])[0]
        self._positions[slot] = len(row.prefix) + cached
        self._tokens[slot] = row.rest[-1]
        self._under_way[slot] = 1

    def step(self) -> list[DecodingRow]:
        """Decode one more token of every row; remove and return the rows that have ended."""
        # Each row sees the place that its token is about to be written to.
        self._mask[self._every_slot, 0, 0, self._slots.at] = 0
        mask = self._network.masks(self._mask, self._positions[:, None], self._at)
        logits = self._network.step(self._tokens, self._positions, mask, self._slots)
        self._tokens = self._settle(self._choose(self._hide_forbidden(logits)))
        # By 0 for empty slots, which are computed with the others and go nowhere.
        self._slots.at += self._under_way
        self._positions += self._under_way
        self._score(logits)
        tokens = self._tokens.tolist()
        ended = [slot for slot, row in self.rows.items() if self._ends(row, tokens[slot])]
        return [self._leave(slot) for slot in ended]

    def _hide_forbidden(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the logits without the tokens that the forms of rows don't allow."""
        forms = {slot: row.form for slot, row in self.rows.items() if row.form}
        if not forms:
            return logits
        rows, width = logits.shape
        words = -(-width // 32)
        # Bit t % 32 of word t // 32 says whether token t is allowed; free rows keep all bits.
        bits = np.full((rows, words), -1, dtype=np.int32)
        for slot, form in forms.items():
            bits[slot] = form.mask_allowed()[:words]
        packed = torch.from_numpy(bits).to(logits.device)
        places = torch.arange(32, dtype=torch.int32, device=logits.device)
        hidden = (packed[:, :, None] >> places & 1 == 0).flatten(1)[:, :width]
        return logits.masked_fill(hidden, float("-inf"))

    def _settle(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tell the forms what was chosen, in whose place they may put what closes an argument."""
        for slot, row in self.rows.items():
            if row.form:
                chosen = int(tokens[slot])
                taken = row.form.take(chosen)
                if taken != chosen:
                    tokens[slot] = taken
        return tokens

    def _choose(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the likeliest tokens, or draws by the Gumbel trick from each row's generator."""
        warm = [(slot, row) for slot, row in self.rows.items() if row.temperature > 0]
        for slot, row in warm:
            noise = torch.from_numpy(row.noise.gumbel(size=logits.shape[1]))
            # In double precision: the largest of logits / T + Gumbel noise is a draw from the
            # softmax (Gumbel 1954), and rounding mustn't make ties.
            drawn = logits[slot].double() / row.temperature + noise.to(logits.device)
            # Copied once: `_score` needs the logits as the model gave them.
            logits = logits.clone() if slot == warm[0][0] else logits
            logits[slot] = float("-inf")
            logits[slot, drawn.argmax()] = 0  # of numbers that are none, too, an allowed one
        return logits.argmax(dim=-1)

    def _score(self, logits: torch.Tensor) -> None:
        """Keep what was chosen with its log-probability among all tokens, also forbidden ones."""
        for slot, row in self.rows.items():
            if row.scored:
                scores = torch.log_softmax(logits[slot], dim=-1)
                row.scores.append(float(scores[self._tokens[slot]]))

    def _ends(self, row: DecodingRow, token: int) -> bool:
        """Add a token to a row's answer, and return whether the row leaves its slot."""
        row.answer.append(token)
        if token in self._stops or (row.form and row.form.whole):
            row.finish = "cut" if row.form and row.form.cut else "stop"
        elif len(row.answer) == row.limit:
            row.finish = "length"
        # A row that nobody waits for any more leaves its slot to the next one.
        return bool(row.finish) or row.given_up

    def _leave(self, slot: int) -> DecodingRow:
        # As an empty slot from the start: it sees one place, so that its softmax is a number.
        self._mask[slot] = float("-inf")
        self._mask[slot, ..., 0] = 0
        self._slots.at[slot] = 0
        self._positions[slot] = 0
        self._under_way[slot] = 0
        self.free.append(slot)
        return self.rows.pop(slot)
