"""The model that comes with the app: a file that numpy reads, of a training that really was."""

import io

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.models.gpt import GPT
from core.train.config import TrainConfig
from core.train.learning.opened import open_shipped, shipped_steps
from core.train.learning.recording import (
    SMALL_GPT,
    Recording,
    read_recording,
    rounded,
    to_bytes,
)
from core.train.text.corpora import load_corpus
from core.train.text.tokenizers import CharacterTokenizer

MAX_BYTES = 2_000_000


def loss_on_kept_text(step):
    """Cross-entropy on the text that came with the weights."""
    return loss_on(read_recording(SMALL_GPT).text, step)


def loss_on(text, step):
    """Cross-entropy of torch's own, in contexts of the model's length."""
    recording = read_recording(SMALL_GPT)
    ids = torch.tensor(recording.tokenizer.encode(text).astype(np.int64))
    length = recording.config.seq_len
    count = (len(ids) - 1) // length
    with torch.no_grad():
        logits = open_shipped(step).model.logits(ids[: count * length].view(count, length))
    targets = ids[1 : count * length + 1]
    return F.cross_entropy(logits.flatten(0, 1), targets).item()


def test_the_file_is_small_and_its_weights_are_finite():
    assert SMALL_GPT.stat().st_size <= MAX_BYTES
    recording = read_recording(SMALL_GPT)
    assert 7 <= len(recording.steps) <= 9
    assert recording.steps[0] == 0
    assert recording.steps[-1] == recording.config.num_steps
    for step, weights in recording.weights.items():
        for name, weight in weights.items():
            assert weight.dtype == np.float16, (step, name)
            assert np.isfinite(weight).all(), (step, name)


def test_the_rounded_weights_lose_as_much_as_was_measured_while_they_trained():
    recording = read_recording(SMALL_GPT)
    # Measured over windows all over the text's last tenth; Pythons differ a little in their text.
    known, whole = set(recording.tokenizer.characters), load_corpus(recording.config.corpus)
    unseen = "".join(each for each in whole[-len(whole) // 10 :] if each in known)
    for step in recording.steps:
        assert loss_on(unseen, step) == pytest.approx(recording.losses[step], abs=0.1), step


def test_the_shipped_model_is_the_reference_model_with_the_recorded_weights():
    opened = open_shipped(shipped_steps()[-1])
    recording = read_recording(SMALL_GPT)
    own = GPT(recording.config.shape(recording.tokenizer.vocab_size))
    assert type(opened.model) is GPT
    assert set(dict(own.named_parameters())) == set(recording.weights[0])
    for name, weight in opened.model.named_parameters():
        kept = recording.weights[opened.step][name]
        assert np.array_equal(weight.detach().numpy(), kept.astype(np.float32)), name


def test_a_recording_survives_its_bytes(tmp_path):
    config = TrainConfig(num_layers=1, hidden_dim=8, num_heads=2, seq_len=8)
    model = GPT(config.shape(3))
    recording = Recording(
        config=config,
        tokenizer=CharacterTokenizer("abc"),
        prompt="a",
        text="abcabc",
        losses={0: 1.1},
        weights={0: rounded(model.state_dict())},
    )
    path = tmp_path / "own.npz"
    path.write_bytes(to_bytes(recording))
    again = read_recording(path)
    assert (again.config, again.tokenizer, again.losses) == (config, recording.tokenizer, {0: 1.1})
    assert (again.prompt, again.text, again.steps) == ("a", "abcabc", (0,))
    for name, weight in recording.weights[0].items():
        assert np.array_equal(again.weights[0][name], weight), name


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["missing", "torn", "empty", "pickle"])
def test_a_file_that_is_no_recording_is_refused_in_a_sentence(tmp_path, kind):
    path = tmp_path / f"{kind}.npz"
    contents = {"torn": SMALL_GPT.read_bytes()[:5000], "empty": b"", "pickle": pickled()}
    if kind in contents:
        path.write_bytes(contents[kind])
    with pytest.raises(ValueError, match=rf"{kind}\.npz cannot be read \(\w+\); take it"):
        read_recording(path)
