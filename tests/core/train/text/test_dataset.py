import hashlib
import math

import numpy as np
import pytest

from core.train.config import TrainConfig
from core.train.text.dataset import (
    build_dataset,
    dataset_of,
    load_dataset,
    save_dataset,
    shown_name,
    text_entropy,
)

TEXT = "Ein Text, 第一行。\r\nThe second line!\n" * 40
UPLOAD = TrainConfig(corpus="upload", seq_len=16)


@pytest.fixture
def dataset():
    return build_dataset(UPLOAD, TEXT.encode(), "poems.txt")


@pytest.mark.parametrize("tokenizer", ["character", "byte", "bpe"])
def test_a_dataset_survives_its_files(tmp_path, tokenizer):
    config = TrainConfig(corpus="upload", seq_len=16, tokenizer=tokenizer)
    dataset = build_dataset(config, TEXT.encode(), "poems.txt")
    save_dataset(dataset, tmp_path / "data")
    again = load_dataset(tmp_path / "data")
    assert np.array_equal(again.tokens, dataset.tokens)
    assert (again.text, again.prompt, again.entropy) == (TEXT, dataset.prompt, dataset.entropy)
    assert again.tokenizer == dataset.tokenizer


def test_the_facts_of_a_text_can_be_checked(dataset):
    facts = dataset.facts("upload")
    assert facts["sha256"] == hashlib.sha256(TEXT.encode()).hexdigest()
    assert facts["vocab_size"] == len(set(TEXT))
    assert facts["title"] == "poems.txt"
    assert facts["bigram_entropy"] < facts["unigram_entropy"] < facts["ln_vocab"]


def test_the_reference_losses_of_bpe_are_in_its_own_tokens():
    config = TrainConfig(corpus="upload", seq_len=16, tokenizer="bpe", bpe_vocab_size=300)
    facts = build_dataset(config, TEXT.encode(), "poems.txt").facts("upload")
    assert facts["vocab_size"] <= 300
    assert facts["ln_vocab"] == pytest.approx(math.log(facts["vocab_size"]))
    assert facts["num_tokens"] < len(TEXT)
    assert facts["bigram_entropy"] < facts["unigram_entropy"] < facts["ln_vocab"]


def test_a_text_is_cut_once_for_all_settings_that_leave_its_tokens_alone():
    one = dataset_of(UPLOAD, TEXT.encode(), "poems.txt")
    assert dataset_of(TrainConfig(corpus="upload", seq_len=9), TEXT.encode(), "poems.txt") is one
    other = TrainConfig(corpus="upload", tokenizer="byte")
    assert dataset_of(other, TEXT.encode(), "poems.txt") is not one


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\texts\\a.txt", "a.txt"),
        ("<script>alert(1)</script>", "script"),
        ("诗 (1).txt", "诗 (1).txt"),
        ("...", "upload.txt"),
        ("a\0b\n.txt", "ab.txt"),
        ("x" * 500, "x" * 80),
    ],
)
def test_a_files_name_cannot_mislead(name, shown):
    assert shown_name(name) == shown


def entropy_of(text):
    characters = sorted(set(text))
    tokens = np.array([characters.index(c) for c in text], dtype=np.uint16)
    return text_entropy(tokens, len(characters))


def test_in_an_alternating_text_the_neighbour_tells_everything():
    entropy = entropy_of("ab" * 500)
    assert entropy.unigram == pytest.approx(math.log(2))
    assert entropy.bigram == pytest.approx(0, abs=1e-5)


def test_a_markov_source_has_the_entropy_rate_of_its_transitions():
    chance = np.random.default_rng(1)
    stays = chance.random(400_000) < 0.9
    tokens = (np.cumsum(~stays) % 2).astype(np.uint16)
    rate = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert text_entropy(tokens, 2).bigram == pytest.approx(rate, abs=2e-3)


def test_counting_more_never_costs_more():
    entropy = entropy_of("the quick brown fox jumps over the lazy dog " * 9)
    assert entropy.bigram < entropy.unigram < entropy.uniform
