import pytest
import torch

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts
from core.models.build import build_model
from core.models.spec import ModelSpec
from tests.core.budget.simulation.test_prepared import GPT2, LLAMA


def _num_params(spec: ModelSpec) -> int:
    return sum(each.numel() for each in build_model(spec).parameters())


def _assert_same_answers(spec: ModelSpec, state, theirs) -> None:
    ours = build_model(spec, "cpu", device="cpu")
    ours.load_state_dict(state)
    ids = torch.randint(spec.vocab_size, (2, 20))
    with torch.no_grad():
        mine = ours.head(ours.hidden(ids))
        torch.testing.assert_close(mine, theirs(ids).logits, atol=1e-5, rtol=1e-4)


@pytest.mark.slow
def test_every_catalogue_row_has_on_meta_exactly_its_counted_parameters():
    for key, spec in MODELS.items():
        assert _num_params(spec) == counts(spec).total, key


@pytest.mark.slow
def test_our_llama_says_what_hugging_faces_says():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=LLAMA.hidden_dim,
        num_hidden_layers=LLAMA.num_layers,
        num_attention_heads=LLAMA.num_heads,
        num_key_value_heads=LLAMA.num_kv_heads,
        intermediate_size=LLAMA.ffn_dim,
        vocab_size=LLAMA.vocab_size,
        rms_norm_eps=1e-6,
    )
    torch.manual_seed(0)
    theirs = LlamaForCausalLM(config).eval()
    state = {_our_name(name): value for name, value in theirs.state_dict().items()}
    _assert_same_answers(LLAMA, state, theirs)


def _our_name(name: str) -> str:
    for theirs, ours in (
        ("model.", ""),
        ("embed_tokens", "tokens"),
        ("layers", "blocks"),
        ("self_attn", "attention"),
        ("mlp", "feed_forward"),
        ("input_layernorm", "norm_1"),
        ("post_attention_layernorm", "norm_2"),
        ("_proj", ""),
        ("lm_head", "head"),
    ):
        name = name.replace(theirs, ours)
    return name


@pytest.mark.parametrize("spec", [LLAMA, GPT2], ids=lambda spec: spec.name)
def test_a_loss_in_chunks_is_the_loss_at_once(spec: ModelSpec):
    torch.manual_seed(0)
    model = build_model(spec, "cpu", device="cpu")
    ids, targets = torch.randint(spec.vocab_size, (2, 2, 30))
    at_once = model(ids, targets)
    torch.testing.assert_close(model(ids, targets, num_chunks=7), at_once)
    assert torch.isfinite(at_once)


def test_a_later_token_changes_no_earlier_answer():
    torch.manual_seed(0)
    model = build_model(LLAMA, "cpu", device="cpu")
    ids = torch.randint(LLAMA.vocab_size, (1, 10))
    changed = ids.clone()
    changed[0, -1] = (changed[0, -1] + 1) % LLAMA.vocab_size
    with torch.no_grad():
        torch.testing.assert_close(model.hidden(ids)[:, :-1], model.hidden(changed)[:, :-1])


@pytest.mark.slow
def test_our_gpt2_says_what_hugging_faces_says():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_embd=GPT2.hidden_dim,
        n_layer=GPT2.num_layers,
        n_head=GPT2.num_heads,
        n_positions=GPT2.learned_positions,
        vocab_size=GPT2.vocab_size,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    theirs = GPT2LMHeadModel(config).eval()
    _assert_same_answers(GPT2, _our_state(theirs.state_dict()), theirs)


def _our_state(theirs):
    names = {
        "transformer.": "",
        "wte": "tokens",
        "wpe": "positions",
        "h.": "blocks.",
        "ln_f": "norm",
        "ln_": "norm_",
        "attn.c_proj": "attention.o",
        "mlp.c_fc": "feed_forward.up",
        "mlp.c_proj": "feed_forward.down",
        "lm_head": "head",
    }
    ours = {}
    for full_name, value in theirs.items():
        name = full_name
        for old, new in names.items():
            name = name.replace(old, new)
        matrix = value.T if "c_" in full_name and full_name.endswith("weight") else value
        if "c_attn" in name:
            for letter, part in zip("qkv", matrix.chunk(3), strict=True):
                ours[name.replace("attn.c_attn", f"attention.{letter}")] = part
        else:
            ours[name] = matrix
    return ours
