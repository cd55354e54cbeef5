"""Inside GPT, stage by stage and one head of it: what is shown is what the model computed."""

import re
import struct
from urllib.parse import parse_qs, unquote_plus

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.budget.catalogue.hf_config import read_config
from core.models.walk import walk
from core.train.learning.opened import open_shipped, shipped_steps
from core.train.text.pieces import last_pieces
from pages.models.inside_gpt.inputs import START
from pages.models.inside_gpt.stages import TITLES
from tests.app.shown import alt, ask, commit, headline, page_links, parameters, said

KEY = "models/inside_gpt"


@pytest.fixture(scope="module")
def opened():
    return open_shipped(shipped_steps()[-1])


@pytest.fixture(scope="module")
def ids(opened):
    return last_pieces(opened.tokenizer, START, 64).token_ids


def test_the_list_of_stages_is_what_a_walk_passes_in_its_order(opened, ids):
    names = [stage.name for stage in walk(opened.model, ids) if stage.layer in {None, 0}]
    assert [name.removeprefix("blocks.0.") for name in names] == list(TITLES)


def test_every_stage_shows_its_equation_its_shape_and_the_line_that_made_it(open_page, opened, ids):
    for stage in walk(opened.model, ids):
        if stage.layer in {None, 1}:
            key = stage.name.removeprefix("blocks.1.")
            app = open_page(KEY, inside_tab="stages", inside_stage=key, inside_layer="2")
            (tensor, *_others) = stage.outputs.values()
            assert f"`{stage.equation}`" in headline(app), key
            assert " × ".join(map(str, tensor.shape)) in headline(app), key
            line = f"{stage.source.text}  # {stage.source.file}:{stage.source.line}"
            assert line in [each.value for each in app.code], key
            assert stage.name in alt(app), key


def test_the_steps_lead_through_the_stages_and_stop_at_the_ends(open_page):
    app = open_page(KEY, inside_tab="stages", inside_stage="positions")
    app.button(key="inside_to_right").click().run()
    assert headline(app).startswith(TITLES["norm_1"])
    app.button(key="inside_to_left").click().run()
    app.button(key="inside_to_left").click().run()
    assert headline(app).startswith(TITLES["embedding"])
    assert app.button(key="inside_to_left").disabled
    assert not app.button(key="inside_to_right").disabled


def test_a_stage_of_a_block_leads_to_strides_graph_and_memory(open_page):
    heads = open_page(KEY, inside_tab="stages", inside_stage="attention.heads")
    queries = " ".join(link.query_string for link in page_links(heads))
    for word in ("strides_code", "graph_of=block&", "plan_model=own"):
        assert word in queries, word
    scores = open_page(KEY, inside_tab="stages", inside_stage="attention.scores")
    queries = " ".join(link.query_string for link in page_links(scores))
    assert "graph_of=block_full" in queries
    assert "k.transpose(-2, -1)" in unquote_plus(queries)
    norms = open_page(KEY, inside_tab="stages", inside_stage="norm_2")
    assert "strides_code" not in " ".join(link.query_string for link in page_links(norms))


def test_the_memory_of_a_block_is_that_of_this_models_sizes(open_page, opened):
    app = open_page(KEY, inside_tab="stages", inside_stage="norm_2")
    (query,) = [
        parse_qs(link.query_string)
        for link in page_links(app)
        if "plan_config" in link.query_string
    ]
    read = read_config(query["plan_config"][0])
    shape = opened.model.shape
    assert (read.num_layers, read.hidden_dim, read.num_heads, read.learned_positions) == (
        shape.num_layers, shape.hidden_dim, shape.num_heads, shape.seq_len,
    )  # fmt: skip


def test_a_number_of_an_embedding_leads_to_its_bits(open_page, opened, ids):
    app = open_page(KEY, inside_tab="tokens", inside_view="rows")
    (query,) = [
        parse_qs(link.query_string) for link in page_links(app) if "bits_code" in link.query_string
    ]
    first = opened.model.tokens.weight[ids[-1], 0].item()
    (bits,) = struct.unpack(">I", struct.pack(">f", first))
    assert int(query["bits_code"][0], 16) == bits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "page", "start"),
    [
        ({"inside_tab": "stages", "inside_stage": "attention.heads"},
         "tensors/strides_and_views", "strides"),
        ({"inside_tab": "stages", "inside_stage": "attention.scores"},
         "tensors/strides_and_views", "strides"),
        ({"inside_tab": "tokens", "inside_view": "rows"}, "dtypes/bit_layouts", "bits"),
        ({"inside_tab": "stages", "inside_stage": "attention.mix"},
         "autograd/computation_graph", "graph"),
        ({"inside_tab": "stages", "inside_stage": "norm_2"}, "plan/training_memory", "plan"),
        ({"inside_tab": "attention"}, "tensors/broadcasting", "broad"),
        ({"inside_tab": "attention"}, "tensors/rearrange_and_einsum", "ein"),
    ],
)  # fmt: skip
def test_each_link_leads_to_a_state_that_its_page_accepts(open_page, probed, state, page, start):
    links = [parse_qs(each.query_string) for each in page_links(open_page(KEY, **state))]
    (query,) = [each for each in links if any(name.startswith(f"{start}_") for name in each)]
    app = open_page(page, **{name: value for name, (value,) in query.items()})
    assert headline(app)
    assert "refused" not in headline(app)
    assert not app.warning
    shown = parameters(app)
    for name, (value,) in query.items():
        assert shown[name] == value, name


def test_the_headline_of_a_head_is_what_torchs_attention_gives(open_page, opened, ids):
    app = open_page(KEY, inside_tab="attention", inside_layer="2", inside_head="2")
    with torch.no_grad():
        x = opened.model.tokens(torch.tensor([ids])) + opened.model.positions.weight[: len(ids)]
        block = opened.model.blocks[1]
        packed = block.attention.qkv(block.norm_1(opened.model.blocks[0](x)))
        q, k, _v = (each.unflatten(-1, (opened.model.shape.num_heads, -1))[0, :, 1]
                    for each in packed.chunk(3, -1))  # fmt: skip
        identity = torch.eye(len(ids))[None]
        weights = F.scaled_dot_product_attention(q[None], k[None], identity, is_causal=True)[0, -1]
    best = int(weights.argmax())
    assert f"token {best + 1} (" in headline(app)
    shown = float(re.search(r"after softmax ([\d.]+)\s?%", headline(app)).group(1))
    assert shown == pytest.approx(100 * weights[best].item(), abs=0.06)


def test_the_masks_of_both_conventions_stand_side_by_side_and_a_row_without_keys_is_nan(open_page):
    app = open_page(KEY, inside_tab="attention")
    _head, masks = app.get("plotly_chart")
    numbers = re.findall(r"\d+", masks.proto.alt)
    assert numbers == ["5", "15", "10", "10"]
    assert "NaN: 1 of 5 rows" in said(app)
    lost = torch.full((1, 5), -torch.inf).softmax(-1)
    assert lost.isnan().all()


@pytest.mark.slow
@pytest.mark.parametrize("tab", ["stages", "attention"])
def test_the_code_prints_the_numbers_of_the_headline(open_page, run_code, tab):
    app = open_page(KEY, inside_tab=tab, inside_layer="2", inside_head="3")
    printed = run_code(app, tab if tab in app.session_state["snippets"] else "inside")
    if tab == "stages":
        assert "B H T D, B H S D -> B H T S" in headline(app)
        tokens = len(START)
        shape, num_bytes = f"[(1, 4, {tokens}, {tokens})]", 4 * 4 * tokens**2
        assert printed.startswith(f"B H T D, B H S D -> B H T S {shape} {num_bytes} bytes")
    else:
        token, score, weight = re.search(
            r"token (\d+) score (\S+), weight ([\d.]+)%", printed
        ).groups()
        assert f"gives token {token} (" in headline(app)
        assert f"the score {score}," in headline(app)
        assert weight in headline(app)


@pytest.mark.parametrize(
    ("tab", "key", "right"), [("stages", "costly_stage", 1), ("attention", "first_row", 2)]
)
def test_each_tab_asks_a_question_of_its_own(open_page, tab, key, right):
    app = open_page(KEY, inside_tab=tab, **ask("inside_predict"))
    options = app.radio(key=f"inside_{key}").options
    commit(app, f"inside_{key}", options[right])
    assert any("✓" in each.value or "Right" in each.value for each in (*app.success, *app.markdown))


def test_a_projector_shows_one_picture_a_tab(open_page):
    for tab in ("stages", "attention"):
        app = open_page(KEY, inside_tab=tab, present="1")
        assert headline(app)
        assert len(app.get("plotly_chart")) == 1


def test_without_a_text_both_tabs_ask_for_one(open_page):
    for tab in ("stages", "attention"):
        app = open_page(KEY, inside_tab=tab, inside_text="")
        assert "Type a text" in headline(app)
