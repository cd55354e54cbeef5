from dataclasses import replace

import pytest
import torch

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts
from core.models.build import build_model
from core.models.feed_forward import MixtureOfExperts
from core.models.kernels import EPSILON, KERNELS
from core.models.spec import Indexer, LatentAttention, Mixture, ModelSpec
from tests.core.budget.simulation.test_prepared import GPT2, LLAMA
from tests.core.models.small_models import SPECS, small_model, some_ids


def _num_params(spec: ModelSpec) -> int:
    return sum(each.numel() for each in build_model(spec).parameters())


def _assert_same_answers(spec: ModelSpec, state, theirs) -> None:
    ids = torch.randint(spec.vocab_size, (2, 20))
    for dtype in (torch.float32, torch.float64):
        ours = build_model(spec, "cpu", device="cpu", dtype=dtype)
        ours.load_state_dict(state)
        with torch.no_grad():
            expected = theirs.to(dtype)(ids).logits
            torch.testing.assert_close(ours.logits(ids), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.slow
def test_every_catalogue_row_has_on_meta_exactly_its_counted_parameters():
    for key, spec in MODELS.items():
        assert _num_params(spec) == counts(spec).total, key


def test_llama_4_maverick_has_experts_in_every_other_layer_from_the_second_on():
    model = build_model(MODELS["llama-4-maverick"])
    kinds = [isinstance(block.feed_forward, MixtureOfExperts) for block in model.blocks]
    assert kinds == [False, True] * 24


def test_experts_with_biases_add_them_and_a_bias_of_zero_changes_nothing():
    torch.manual_seed(0)
    mixture = Mixture(num_experts=4, experts_per_token=2, expert_dim=16)
    biased = MixtureOfExperts(8, replace(mixture, bias=True), KERNELS["cpu"])
    plain = MixtureOfExperts(8, mixture, KERNELS["cpu"])
    names = plain.state_dict().keys()
    plain.load_state_dict({name: biased.state_dict()[name] for name in names})
    x = torch.randn(1, 6, 8)
    with torch.no_grad():
        biased.router.bias.zero_()
        torch.testing.assert_close(biased(x), plain(x))
        biased.biases["down"].fill_(3.0)
        probabilities = plain.router(x[0]).softmax(-1)
        added = 3.0 * probabilities.topk(2).values.sum(-1)
        torch.testing.assert_close(biased(x)[0], plain(x)[0] + added.unsqueeze(-1))


def test_a_norm_over_all_heads_is_one_of_the_whole_row():
    torch.manual_seed(0)
    spec = replace(LLAMA, qk_norm=True, qk_norm_over="all heads")
    attention = build_model(spec, "cpu", device="cpu").blocks[0].attention
    seen = {}

    def attend(q, k, v):
        seen.update(q=q, k=k)
        return torch.zeros_like(v.repeat_interleave(q.shape[1] // v.shape[1], 1))

    attention.kernels = replace(attention.kernels, attend=attend)
    x = torch.randn(2, 5, spec.hidden_dim)
    attention(x, None)
    for name, got in seen.items():
        row = getattr(attention, name)(x)
        wanted = torch.nn.functional.rms_norm(row, row.shape[-1:], eps=EPSILON)
        torch.testing.assert_close(got.transpose(1, 2).flatten(2), wanted)


def test_an_indexer_scores_every_pair_with_one_key_for_all_its_heads():
    torch.manual_seed(0)
    latent = LatentAttention(query_rank=12, kv_rank=16, nope_dim=16, rope_dim=8, value_dim=16)
    indexer = Indexer(num_heads=3, head_dim=8, top_k=4)
    spec = replace(LLAMA, latent=latent, indexer=indexer)
    scored = build_model(spec, "cpu", device="cpu").blocks[0].attention.indexer
    x, narrow = torch.randn(1, 5, spec.hidden_dim), torch.randn(1, 5, 12)
    with torch.no_grad():
        q, k, w = (
            scored.q(narrow)[0].view(5, 3, 8),
            scored.k_norm(scored.k(x))[0],
            scored.weights(x)[0],
        )
        # DeepSeek-V3.2, 2025, equation 1, pair by pair
        wanted = [
            [sum(w[t, j] * (q[t, j] @ k[s]).relu() for j in range(3)) for s in range(5)]
            for t in range(5)
        ]
        torch.testing.assert_close(scored(x, narrow)[0], torch.tensor(wanted), atol=1e-5, rtol=1e-4)


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


@pytest.mark.slow
def test_our_qwen3_says_what_hugging_faces_says():
    from transformers import Qwen3Config, Qwen3ForCausalLM

    spec = replace(LLAMA, name="tiny Qwen3", qk_norm=True, head_dim=24)
    config = Qwen3Config(
        hidden_size=spec.hidden_dim,
        num_hidden_layers=spec.num_layers,
        num_attention_heads=spec.num_heads,
        num_key_value_heads=spec.num_kv_heads,
        head_dim=spec.head_dim,
        intermediate_size=spec.ffn_dim,
        vocab_size=spec.vocab_size,
        rms_norm_eps=1e-6,
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    theirs = Qwen3ForCausalLM(config).eval()
    with torch.no_grad():
        for name, each in theirs.named_parameters():
            each.add_(0.3 * torch.randn_like(each) if "norm" in name else 0)
    state = {_our_name(name): value for name, value in theirs.state_dict().items()}
    _assert_same_answers(spec, state, theirs)


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


@pytest.mark.parametrize("name", SPECS)
def test_a_later_token_changes_no_earlier_answer(name):
    model, ids = small_model(name), some_ids(10)
    changed = ids.clone()
    changed[0, 6:] = (changed[0, 6:] + 1) % 31
    with torch.no_grad():
        before, after = model.logits(ids), model.logits(changed)
    assert torch.equal(before[:, :6], after[:, :6])
    assert not torch.allclose(before[:, 6], after[:, 6])


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
