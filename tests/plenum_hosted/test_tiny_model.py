"""The model that ships with the project: its files, its tokenizer, its teacher, its training."""

import json
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from tiny_model import architecture, corpus, forward, reading, teacher, training  # noqa: E402
from tiny_model import tokenizer as tokenizers  # noqa: E402

from plenum.base.identity import make_generator  # noqa: E402
from plenum.committee import Deliberation, ballots  # noqa: E402
from plenum.committee import state as stateline  # noqa: E402
from plenum.models import Message, Reply  # noqa: E402
from plenum.models.simulated.prompt_parser import PromptRow  # noqa: E402
from plenum_hosted.checkpoints import TINY  # noqa: E402

torch.set_num_threads(1)  # two would wait for each other where others use the cores


@cache
def learnt() -> Any:
    """A tokenizer as a training learns it, saved and loaded; the model need not be trained."""
    with TemporaryDirectory() as folder:
        made = tokenizers.train(corpus.texts(0), architecture.VOCABULARY)
        made.save_pretrained(folder)
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return learnt()


@pytest.fixture(scope="module")
def model(tokenizer: Any) -> Any:
    return architecture.build(tokenizer, 0)


# --- the files ---------------------------------------------------------------------------------


def test_the_model_is_a_qwen2_of_at_most_three_million_parameters(model: Any) -> None:
    assert model.config.model_type == "qwen2"
    assert sum(p.numel() for p in model.parameters()) <= 3_000_000


def test_the_weights_are_safetensors_of_at_most_eight_megabytes() -> None:
    weights = list(TINY.glob("*.safetensors"))
    assert [w.name for w in weights] == ["model.safetensors"]
    assert weights[0].stat().st_size <= 8_000_000
    assert not [*TINY.glob("*.bin"), *TINY.glob("*.pt"), *TINY.glob("*.py")]


def test_the_card_says_what_the_model_is_for() -> None:
    card = " ".join((TINY / "README.md").read_text().split())
    assert "to exercise the whole hosted path anywhere" in card
    assert "never to stand for a real model" in card


def test_an_answer_ends_at_either_end_token(model: Any, tokenizer: Any) -> None:
    ends = [tokenizer.convert_tokens_to_ids(t) for t in ("<|im_end|>", "<|endoftext|>")]
    assert model.generation_config.eos_token_id == ends


# --- the tokenizer -----------------------------------------------------------------------------


@given(text=st.text())
def test_any_text_comes_back_from_its_tokens_in_unicodes_composed_form(text: str) -> None:
    tokenizer = learnt()
    composed = unicodedata.normalize("NFC", text)
    assert tokenizer.decode(tokenizer.encode(composed, add_special_tokens=False)) == composed


def test_every_loader_of_transformers_gives_the_same_tokens(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)
    texts = [example.rest for example in corpus.group(5, 0, 3)] + ["12,000 α\n\n  x\t7 🙂"]
    backend = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path, local_files_only=True)
    for text in texts:
        assert tokenizer(text).input_ids == backend(text).input_ids


def test_a_digit_is_a_token_of_its_own(tokenizer: Any) -> None:
    pieces = tokenizer.tokenize("0.350 | 65, 12,000 and 2,031 in AI-01")
    assert [p for p in pieces if any(c.isdigit() for c in p) and len(p) > 1] == []


def test_the_chat_template_renders_each_role_and_the_generation_prompt(tokenizer: Any) -> None:
    chat = [("system", "S."), ("user", "U."), ("assistant", "A."), ("user", "V.")]
    messages = [{"role": role, "content": content} for role, content in chat]
    rendered = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert rendered == (
        "<|im_start|>system\nS.<|im_end|>\n<|im_start|>user\nU.<|im_end|>\n"
        "<|im_start|>assistant\nA.<|im_end|>\n<|im_start|>user\nV.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    without = tokenizer.apply_chat_template(messages[1:2], tokenize=False)
    assert without == "<|im_start|>user\nU.<|im_end|>\n"


@pytest.mark.parametrize("shared", [0, 2, 4])
def test_a_prompt_cut_in_two_is_the_rendered_chat(tokenizer: Any, shared: int) -> None:
    messages = [Message("system", "S."), Message("user", "User", shared), Message("user", "V.")]
    mappings = [{"role": m.role, "content": m.content} for m in messages]
    rendered = tokenizer.apply_chat_template(mappings, tokenize=False, add_generation_prompt=True)
    prefix, rest = tokenizers.split(messages)
    assert prefix + rest == rendered
    assert prefix.endswith("User"[:shared])
    assert bool(prefix) == bool(shared)


# --- the teacher -------------------------------------------------------------------------------


def calls(scenario: str, roles: str, number: int) -> Iterator[Any]:
    """A whole deliberation by the teacher: its calls, with the answers."""
    rng = make_generator("test", scenario, number)
    variants = corpus.variants20(scenario)
    held = corpus.reworded(corpus.condition(roles), scenario, variants[number % len(variants)])
    run = Deliberation(corpus.with_rounds(held, 3, number), 0)
    while (ask := run.ask) is not None:
        reply = teacher.answer(ask.kind, ask.chat.messages, rng)
        yield ask, reply, run.answer(Reply(reply, 0, 0))


@pytest.mark.parametrize("scenario", corpus.ids())
def test_the_teachers_answers_parse_and_keep_to_the_length(scenario: str) -> None:
    for number, roles in enumerate(("on", "off", "ablate_chair") * 7):
        for ask, _, entry in calls(scenario, roles, number):
            assert "problem" not in entry
            if ask.kind == "turn":
                assert len(entry["argument"].split()) <= corpus.WORDS
                assert len(set(entry["state"]["tags"])) == 2


@pytest.mark.parametrize("scenario", corpus.ids())
def test_the_teacher_reads_nothing_but_the_prompt(scenario: str) -> None:
    for ask, reply, _ in calls(scenario, "on", 3):
        again = [Message(m.role, m.content) for m in ask.chat.messages]
        first, second = (teacher.answer(ask.kind, again, make_generator("x")) for _ in range(2))
        assert first == second
        assert teacher.would(ask.kind, again, reply)


def test_what_the_teacher_names_stands_in_every_wording() -> None:
    for scenario in corpus.ids():
        for variant in corpus.variants20(scenario):
            view = reading.view_of(variant.packet)
            assert view.place in variant.packet
            assert set(view.names) == set(view.reasons)


def test_a_spoilt_answer_leads_to_a_repair_that_parses() -> None:
    kinds = {"turn_repair": 0, "ballot_repair": 0}
    for number in range(150):
        for example in corpus.group(3, number, 8):
            options = 5 if "A, B, C, D, E" in example.prefix else 3
            if example.kind == "turn_repair":
                argument, _ = stateline.parse_answer(example.answer, options)
                assert argument == ""
            if example.kind == "ballot_repair":
                ballots.parse_ballot(example.answer, tuple("ABCDE"[:options]))
            kinds[example.kind] = kinds.get(example.kind, 0) + 1
    assert min(kinds.values()) > 0


def test_the_teachers_clerk_counts_right() -> None:
    for example in corpus.clerks(0, 0, 200):
        listed = [json.loads(x) for x in example.rest.splitlines() if x.startswith('{"decision": "')
                  and "|" not in x]  # fmt: skip
        votes = [ballots.Ballot(vote["decision"], vote["confidence"]) for vote in listed]
        count = ballots.parse_count(example.answer, tuple("ABCDE"))
        assert (count.majority_count, count.total) == (
            ballots.tally(votes).majority_count,
            len(votes),
        )
        assert count.decision == ballots.tally(votes).decision


@pytest.mark.parametrize("labels", ["ABC", "ABCDE"])
def test_every_stand_is_a_whole_and_is_read_back_from_its_row(labels: str) -> None:
    for first, second in permutations(labels, 2):
        for firm in range(len(teacher.FIRMNESS)):
            stand = teacher.Stand(first, second, firm)
            units = stand.numbers(tuple(labels))
            assert sum(units) == teacher.WHOLE
            assert min(units) >= 1
            assert units[labels.index(first)] == max(units)
            row = PromptRow(tuple(u / teacher.WHOLE for u in units), 50)
            result = teacher.stand_of(tuple(labels), row)
            assert (result.first, result.firm) == (first, firm)


@given(firm=st.integers(0, 8), option=st.sampled_from("ABC"))
def test_a_step_moves_one_degree_towards_an_option(firm: int, option: str) -> None:
    held = teacher.Stand("A", "B", firm)
    place = "ABC".index(option)
    before, after = (stand.numbers(tuple("ABC")) for stand in (held, held.towards(option)))
    assert after[place] >= before[place]
    assert max(abs(b - a) for b, a in zip(before, after, strict=True)) <= 3


# --- the training ------------------------------------------------------------------------------

train = partial(training.train, threads=1)


@pytest.fixture
def two_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are built with two small layers."""
    usual = architecture.config

    def shrunk(tokenizer: Any) -> Any:
        config = usual(tokenizer)
        config.num_hidden_layers, config.intermediate_size = 2, 32
        config.layer_types = config.layer_types[:2]
        return config

    monkeypatch.setattr(architecture, "config", shrunk)


@pytest.fixture
def small(two_layers: None) -> training.Plan:
    """A training of a few steps."""
    parts = {"answers": 2, "talks": 1, "few": 0, "short": 0, "full": 1}
    return training.Plan(**parts, groups=1, rows=2, clerks=1, warmup=1)


def test_a_training_that_was_interrupted_ends_with_the_same_weights(
    small: training.Plan, tmp_path: Path
) -> None:
    tokenizer = learnt()
    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
    list(train(small, tokenizer, tmp_path / "whole", every=2))
    first = train(small, tokenizer, tmp_path / "cut", every=1)
    assert [next(first).step, next(first).step] == [1, 2]
    first.close()  # killed in its second step: one step is kept
    again = list(train(small, tokenizer, tmp_path / "cut", enough=lambda step: step == 3))
    assert [made.step for made in again] == [2, 3]
    assert [m.step for m in train(small, tokenizer, tmp_path / "cut")] == [4]
    for name in ("whole", "cut"):
        training.export(tmp_path / name, small, tokenizer, tmp_path / f"{name}_out")
    whole, cut = (
        (tmp_path / f"{name}_out" / "model.safetensors").read_bytes() for name in ("whole", "cut")
    )
    assert whole == cut


def test_a_training_does_not_go_on_from_another_plan(small: training.Plan, tmp_path: Path) -> None:
    tokenizer = learnt()
    list(train(small, tokenizer, tmp_path, enough=lambda step: step == 1))
    other = small.scaled(8)
    with pytest.raises(ValueError, match="is of another training"):
        list(train(other, tokenizer, tmp_path))


@pytest.mark.parametrize("aside", [0.0, 0.5])
def test_the_loss_is_that_of_the_whole_prompt_at_once(two_layers: None, aside: float) -> None:
    model = architecture.build(learnt(), 0)
    batch = training.encode(learnt(), corpus.group(0, 1, 3))
    expected = 0.0
    with torch.inference_mode():
        for row, count in zip(batch.rows, batch.answers, strict=True):
            logits = model(torch.tensor([batch.prefix + row])).logits[0, len(batch.prefix) : -1]
            each = torch.nn.functional.cross_entropy(
                logits, torch.tensor(row[1:]), reduction="none"
            )
            expected += float(each[-count:].sum() + aside * each[:-count].sum())
        result = float(forward.loss(model, batch, aside))
    assert result == pytest.approx(expected, rel=1e-4)
