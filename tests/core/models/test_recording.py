from dataclasses import replace
from threading import Thread

import pytest
import torch
from torch import nn

from core.models.build import build_model
from core.models.recording import record
from core.models.spec import LatentAttention, Mixture
from tests.core.models.small_models import LLAMA, NAMES, small_model, some_ids

LATENT = LatentAttention(query_rank=0, kv_rank=8, nope_dim=4, rope_dim=2, value_dim=4)
EXPERTS = Mixture(num_experts=2, experts_per_token=1, expert_dim=8)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_leaves_the_model_as_it_was_and_shares_its_weights(name):
    model = small_model(name).train()
    seen = record(model, some_ids(5))
    for module in model.modules():
        assert module.training
        assert not module._forward_hooks
    theirs = dict(seen.model.named_parameters())
    assert theirs.keys() == dict(model.named_parameters()).keys()
    assert all(theirs[name] is each for name, each in model.named_parameters())
    assert not seen.logits.requires_grad


@pytest.mark.slow
def test_two_threads_that_read_one_model_do_not_see_each_others_texts():
    model, texts = small_model("gpt"), [[1, 2, 3], [4, 5, 6, 7]]
    found: list[bool] = []

    def read(ids):
        for _turn in range(30):
            seen = record(model, ids)
            found.append(seen.outputs["tokens"].shape[1] == len(ids))
            found.append(torch.equal(seen.given("tokens"), torch.tensor([ids])))

    threads = [Thread(target=read, args=(ids,)) for ids in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 120


def test_ids_come_as_a_list_a_row_or_a_batch():
    model, ids = small_model("gpt"), [3, 1, 4]
    expected = record(model, ids).logits
    assert torch.equal(record(model, tuple(ids)).logits, expected)
    assert torch.equal(record(model, torch.tensor(ids)).logits, expected)
    assert torch.equal(record(model, torch.tensor([ids])).logits, expected)


@pytest.mark.parametrize(
    ("ids", "match"),
    [
        ([], "There is no token"),
        ([1, 31], "Token 31 is not in the vocabulary; ids lie between 0 and 30"),
        ([-1, 2], "Token -1 is not in the vocabulary"),
        ([1] * 17, "17 tokens do not fit into a context of 16"),
    ],
)
@pytest.mark.parametrize("name", ["gpt", "gpt2"])
def test_ids_that_a_model_cannot_read_are_refused(name, ids, match):
    with pytest.raises(ValueError, match=match):
        record(small_model(name), ids)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (nn.Linear(2, 2), "A Linear is not taken apart here"),
        (build_model(replace(LLAMA, latent=LATENT), "cpu", device="cpu"), "only dense models"),
        (build_model(replace(LLAMA, mixture=EXPERTS), "cpu", device="cpu"), "only dense models"),
        (build_model(replace(LLAMA, sinks=True), "cpu", device="cpu"), "attention sinks"),
        (
            build_model(
                replace(LLAMA, qk_norm=True, qk_norm_over="all heads"), "cpu", device="cpu"
            ),
            "norms all heads at once",
        ),
        (build_model(LLAMA, "megatron", device="cpu"), 'Only the kernels "cpu"'),
    ],
)
def test_other_models_are_refused(model, match):
    with pytest.raises(ValueError, match=match):
        record(model, [1, 2])
