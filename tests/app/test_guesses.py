"""A config.json that is not wholly known: every page says so beside its headline, none is sure."""

import dataclasses
import json
import re

import pytest

from core.budget.catalogue.hf_config import read_config
from pages.shared.plan import own_config
from tests.app.shown import alt, captions, headline

SIZES = {
    "model_type": "mine", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    "max_position_embeddings": 8192,
}  # fmt: skip
LLAMA = SIZES | {"model_type": "llama"}
TABS = {
    "plan/model_sizes": ("sizes", ("model", "gguf", "parts")),
    "plan/what_fits": ("fits", ("map", "reach")),
    "plan/serving": ("serving", ("memory", "speed", "heads")),
    "plan/training_memory": ("memory", ("bar",)),
    "plan/parallelism": ("parallel", ("stages", "sharding")),
    "plan/flops_and_time": ("flops", ("components",)),
}
CRISP = re.compile(
    r"holds (every|none|bfloat16|float32|Q8_0) |(?<!perhaps) nothing fits|(is|are) enough|✓|✗|"
    r"(?<!erhaps) not (even )?one [^.]* fits\b|it fits|does not fit|do not fit|each fit\b| fits:"
)


def opened(open_page, page, tab, config, device):
    """Open a tab on the reader's own model and a device."""
    name = TABS[page][0]
    query = {"plan_config": json.dumps(config), "plan_model": "own", "plan_device": device}
    served = {"plan_work": "serve", "plan_devices": "1"} if name == "fits" else {}
    return open_page(page, **{f"{name}_tab": tab, **query, **served})


@pytest.mark.parametrize("page", TABS)
def test_what_is_not_known_stands_beside_the_headline_and_no_verdict_is_crisp(
    open_page, monkeypatch, page
):
    """A layout that was guessed, on a small device and a large one; then fields not counted."""
    for tab in TABS[page][1]:
        for device in ("t4", "b200"):
            app = opened(open_page, page, tab, SIZES, device)
            assert "(layout guessed)" in headline(app), (tab, headline(app))
            found = CRISP.search(f"{headline(app)}\n{alt(app)}")
            assert not found or (page == "plan/what_fits" and tab != "reach"), (tab, found)
    monkeypatch.setattr(own_config, "read_config", partly)
    app = opened(open_page, page, TABS[page][1][0], LLAMA, "t4")
    assert "(not counted: `moe_k`, `ssm]?x???b`)" in headline(app), headline(app)
    assert not CRISP.search(headline(app))


def partly(text):
    """Return the model of a config.json two of whose fields were not understood."""
    return dataclasses.replace(read_config(text), not_counted=("moe_k", "ssm](x)`*b"))


def test_a_known_model_stays_certain_and_a_tab_without_it_has_no_caveat(open_page):
    app = opened(open_page, "plan/model_sizes", "model", LLAMA, "b200")
    assert "holds every format" in headline(app)
    config = json.dumps(SIZES)
    for query in ({"sizes_several": "true"}, {"sizes_tab": "parts", "sizes_tensor": "logits"}):
        app = open_page("plan/model_sizes", plan_model="own", plan_config=config, **query)
        assert "guessed" not in headline(app), query


def test_weights_of_which_not_all_was_counted_are_at_least_so_large(open_page, monkeypatch):
    monkeypatch.setattr(own_config, "read_config", partly)
    app = opened(open_page, "plan/model_sizes", "model", LLAMA, "t4")
    assert "take at least 15.0 GiB" in headline(app)
    assert "At least 15.0 GiB; how much more is not known" in app.metric[0].help
    assert "at least 8.03 B parameters" in "\n".join(captions(app))


def test_what_a_link_does_not_carry_is_said_once_and_a_field_that_counts_stays(open_page):
    """Fields that are known to change nothing go: everything that is read stays."""
    strange = {"torch_dtype": "bfloat16", "bos_token_id": 1, "rope_theta": 500000.0}
    app = opened(open_page, "plan/model_sizes", "model", LLAMA | strange, "t4")
    for _again in range(2):
        app.run()
        kept = json.loads(app.session_state["plan_config"])
        assert kept == LLAMA
        said = "Left out, for they change no count: `bos_token_id`, `rope_theta`, `torch_dtype`."
        assert said in "\n".join(captions(app))
