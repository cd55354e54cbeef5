from threading import Thread

import pytest
import torch

from core.models.recording import record
from tests.core.models.small_models import small_model, some_ids


def test_a_recording_leaves_the_model_as_it_was_and_shares_its_weights():
    model = small_model("gpt").train()
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
