"""What Inside GPT keeps on the server: the newest models and texts, and never more than 64 MB."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from core.models.first_loss import make_fresh
from core.models.held_bytes import held_bytes
from core.models.spec import GPTShape
from core.train.learning.opened import open_shipped
from core.train.text.pieces import last_pieces
from pages.models.inside_gpt import generation
from pages.models.inside_gpt.generation import Drawn
from pages.models.inside_gpt.inputs import START, Case
from pages.models.inside_gpt.kept import MAX_BYTES, Kept
from pages.shared.inputs import Inputs

WIDE = GPTShape(vocab_size=100, seq_len=64, num_layers=6, num_heads=4, hidden_dim=256)
DRAWN = Drawn(temperature=0.0, top_k=0, num_new=4)


def weights(model):
    return held_bytes(model.state_dict().values())


def test_models_together_hold_at_most_64_mb_and_those_used_longest_ago_go():
    kept, alive = Kept(), []
    for number in range(6):
        model = kept.get(number, lambda: make_fresh(WIDE), weights)
        kept.get(0, lambda: pytest.fail("the first one was used all the time"), weights)
        alive.append(weakref.ref(model))
    del model
    gc.collect()
    left = [number for number, each in enumerate(alive) if each() is not None]
    held = sum(each.nbytes for number in left for each in set(alive[number]().parameters()))
    one = sum(each.nbytes for each in set(alive[0]().parameters()))
    assert one > 15_000_000
    assert MAX_BYTES - one < held <= MAX_BYTES == 64_000_000
    assert left == [0, 4, 5]


def test_what_alone_is_too_large_is_handed_out_and_not_kept():
    kept = Kept(max_bytes=1000)
    assert len(kept.get("a", lambda: torch.zeros(1000), lambda x: x.nbytes)) == 1000
    assert kept.values == ()


def test_a_view_holds_its_whole_storage_and_two_views_hold_it_once():
    whole = torch.zeros(1000)
    assert held_bytes([whole[:1]]) == held_bytes([whole[:1], whole[5:]]) == 4000


def test_an_error_is_not_kept():
    kept = Kept()
    with pytest.raises(ValueError, match="no room"):
        kept.get("a", lambda: (_ for _ in ()).throw(ValueError("no room")), lambda x: x.nbytes)
    assert kept.get("a", lambda: torch.ones(1), lambda x: x.nbytes) == 1


def test_what_many_ask_for_at_once_is_made_once():
    kept, made, all_ask = Kept(), [], threading.Barrier(8)

    def ask(_number):
        all_ask.wait()
        return kept.get("a", lambda: made.append(1) or torch.ones(1), lambda x: x.nbytes)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(each is found[0] for each in found)


def test_two_runs_of_one_title_step_and_shape_write_their_own_texts(monkeypatch):
    first = open_shipped(8000)
    other = replace(first, model=make_fresh(first.model.shape))
    read = last_pieces(first.tokenizer, START, 16)
    written = []
    for name, opened in (("one", first), ("two", other)):
        monkeypatch.setattr(Inputs, "used", lambda *_asked, name=name: name)
        case = Case(
            opened=opened, other=None, text=START, token_ids=read.token_ids, pieces=(), layer=0,
            head=None, at=0, num_all=16, unknown=(),
        )  # fmt: skip
        written.append([each.logits[0].item() for each in generation._written(case, DRAWN)])
    assert written[0] != written[1]
