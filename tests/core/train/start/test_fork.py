"""A fork is its parent, but for what was changed."""

from dataclasses import replace

import pytest
import torch

from core.train.config import TrainConfig
from core.train.control.commands import StopSignal
from core.train.learning.lora import count_adapters, merged
from core.train.learning.model import make_model
from core.train.learning.tensors import load_trained, read_weight
from core.train.run.directory import checkpoints, read_info
from core.train.run.evaluations import differing_settings, validation_curve
from core.train.run.reader import RunReader
from core.train.run.records import newest
from core.train.run.store import RunStore
from core.train.start.fork import find_parent, prepare_fork, write_fork
from core.train.start.launch import create_run
from core.train.start.plan import predict_run
from core.train.text.dataset import build_dataset, load_dataset
from core.train.worker.session import open_session

TEXT = b"the quick brown fox jumps over the lazy dog. " * 60
WHAT = {"name": "small", "corpus": "upload"}
SHAPE = {"num_layers": 1, "hidden_dim": 16, "num_heads": 2, "seq_len": 16, "batch_size": 4}
COURSE = {"num_steps": 12, "warmup_steps": 2, "eval_batches": 1, "sample_length": 8}
TIMES = {"checkpoint_interval": 6, "eval_interval": 6, "memory_interval": 5}


@pytest.fixture
def parent(tmp_path, made_timing):
    """The checkpoint at step 6 of a run of twelve steps that has ended."""
    config = TrainConfig.from_json(WHAT | SHAPE | COURSE | TIMES)
    prepared = predict_run(config, build_dataset(config, TEXT, "fox.txt"))
    return find_parent(train(create_run(prepared, made_timing, tmp_path)), 6)


@pytest.fixture
def fork(parent, tmp_path, made_timing):
    """Return fork(upload=None, **changes): the directory of a fork that has ended."""

    def make(upload=None, **changes):
        prepared = prepare_fork(parent, changes, upload)
        return train(write_fork(parent, prepared, made_timing, tmp_path))

    return make


def train(directory):
    torch.set_num_threads(1)
    info = read_info(directory)
    config = TrainConfig.from_json(info["config"] | {"precision": info["resolved"]["precision"]})
    with RunStore(directory) as store:
        open_session(config, store, torch.device("cpu"), StopSignal()).run()
    return directory


def steps_of(directory):
    records = newest(RunReader(directory).read_new().records)
    return [tuple(row) for row in records[["step", "loss", "grad_norm", "learning_rate"]].tolist()]


def test_a_fork_with_its_parents_settings_is_its_parent_bit_for_bit(parent, fork):
    directory = fork()
    assert steps_of(directory) == steps_of(parent.run)[6:]
    ends = [torch.load(checkpoints(run)[-1])["model"] for run in (directory, parent.run)]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[1])


def test_a_fork_knows_its_parent_and_counts_only_the_steps_that_are_left(parent, fork):
    directory = fork(num_steps=18)
    info, whole = read_info(directory), read_info(parent.run)["prediction"]
    assert (info["parent"]["run"], info["parent"]["step"]) == (parent.run.name, 6)
    assert info["prediction"]["seconds"] == whole["seconds"]  # 12 steps both
    assert [step for step, *_rest in steps_of(directory)] == list(range(7, 19))
    both = [validation_curve(each) for each in (parent.run, directory)]
    assert set(differing_settings(both)) == {"num_steps"}


def test_what_was_changed_counts_from_the_first_step_of_the_fork(parent, fork):
    directory = fork(learning_rate=1e-2, min_learning_rate=1e-2, schedule="constant", beta1=0.5)
    assert {rate for *_rest, rate in steps_of(directory)} == {1e-2}
    groups = torch.load(checkpoints(directory)[-1])["optimizer"]["param_groups"]
    assert groups[0]["betas"] == (0.5, 0.95)
    assert steps_of(directory)[0][1] == steps_of(parent.run)[6][1]  # the loss before the update


def test_another_optimizer_begins_with_a_state_of_its_own(fork):
    assert len(steps_of(fork(optimizer="sgd", learning_rate=0.1))) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden_dim": 32}, "hidden_dim"),
        ({"seed": 1}, "seed"),
        ({"num_steps": 6}, "above 6"),
        ({"max_seconds": 30.0}, "max_seconds"),
        ({"speed": 3}, "speed is no setting"),
    ],
)
def test_what_its_weights_do_not_allow_is_refused_in_words(parent, changes, words):
    with pytest.raises(ValueError, match=words):
        prepare_fork(replace(parent, trained_seconds=30.0), changes)


def test_a_step_without_a_checkpoint_is_refused_with_those_that_have_one(parent):
    with pytest.raises(ValueError, match="6, 12"):
        find_parent(parent.run, 7)


def test_a_text_with_characters_that_the_model_does_not_know_is_refused_by_name(parent):
    with pytest.raises(ValueError, match=r"1 characters.*'é'"):
        prepare_fork(parent, {"corpus": "upload"}, "the café is old. ".encode() * 60)


OTHER = b"a lazy fox naps. the dog runs by the quick brown bee. " * 50


def test_lora_trains_adapters_alone_and_the_frozen_weights_stay_its_parents(parent, fork):
    directory = fork(OTHER, corpus="upload", lora_rank=4, num_steps=30, schedule="constant")
    before, after = (
        torch.load(each)["model"] for each in (parent.checkpoint, checkpoints(directory)[-1])
    )
    adapters = {name: each for name, each in after.items() if ".lora_" in name}
    config = TrainConfig.from_json(read_info(directory)["config"])
    assert sum(each.numel() for each in adapters.values()) == count_adapters(config).amount
    assert all(each.abs().sum() > 0 for each in adapters.values())
    for name in after.keys() - adapters.keys():
        assert torch.equal(after[name], before[name.replace(".base.", ".")]), name
    optimizer = torch.load(checkpoints(directory)[-1])["optimizer"]["state"].values()
    held = sum(state["exp_avg"].numel() for state in optimizer)
    assert held == count_adapters(config).amount
    events = RunReader(directory).read_new().events
    watched = next(event for event in events if event["kind"] == "memory")
    predicted = read_info(directory)["prediction"]["memory"]
    for part in ("weights", "gradients", "optimizer"):
        assert predicted[part] == watched[part], part


def test_what_lora_has_learned_is_in_the_merged_weights_and_it_goes_on_after_a_stop(parent, fork):
    directory = fork(OTHER, corpus="upload", lora_rank=4, num_steps=30, schedule="constant")
    losses = [row[1] for row in steps_of(directory)]
    assert sum(losses[-5:]) < sum(losses[:5])
    contents = torch.load(checkpoints(directory)[-1])
    config = TrainConfig.from_json(contents["config"])
    dataset = load_dataset(directory / "data")
    size = dataset.tokenizer.vocab_size
    adapted, plain = make_model(config, size), make_model(replace(config, lora_rank=0), size)
    adapted.load_state_dict(contents["model"])
    plain.load_state_dict(merged(contents["model"]))
    ids = torch.arange(16)[None] % size
    assert torch.allclose(adapted.logits(ids), plain.logits(ids), atol=1e-5)
    assert load_trained(directory, checkpoints(directory)[-1]).model.logits(ids).shape == (
        1,
        16,
        size,
    )
    assert read_weight(directory, "qkv").shape == (48, 16)
    again = prepare_fork(find_parent(directory), {"num_steps": 32})
    assert again.config.lora_rank == 4


def test_adapters_need_a_parent_and_a_rank_that_its_matrices_have(parent, made_timing, tmp_path):
    with pytest.raises(ValueError, match="choose from 1 to 16"):
        prepare_fork(parent, {"lora_rank": 17})
    config = replace(parent.config, lora_rank=4)
    with pytest.raises(ValueError, match="fork such a run"):
        create_run(predict_run(config, load_dataset(parent.run / "data")), made_timing, tmp_path)
