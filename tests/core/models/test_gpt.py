import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from core.models import GPTShape
from core.models.gpt import GPT

SHAPE = GPTShape(num_layers=4, hidden_dim=128, num_heads=4, vocab_size=65, seq_len=64)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(SHAPE)


@pytest.mark.slow
@pytest.mark.parametrize("vocab_size", [65, 103, 256, 5000])
def test_an_untrained_model_guesses_uniformly(vocab_size):
    torch.manual_seed(1)
    shape = GPTShape(num_layers=4, hidden_dim=128, num_heads=4, vocab_size=vocab_size, seq_len=64)
    tokens = torch.randint(0, vocab_size, (64, 64))
    with torch.no_grad():
        scores = GPT(shape).logits(tokens).log_softmax(dim=-1)
    # the mean over all V targets is what uniformly random ones cost; it cannot be below ln V
    loss = -scores.double().mean().item()
    assert math.log(vocab_size) <= loss <= math.log(vocab_size) + 0.05


def test_no_token_sees_its_future(model):
    tokens = torch.randint(0, 65, (1, 64))
    changed = tokens.clone()
    changed[0, 40:] = (changed[0, 40:] + 1) % 65
    before, after = model.logits(tokens), model.logits(changed)
    assert torch.equal(before[:, :40], after[:, :40])
    assert not torch.allclose(before[:, 40], after[:, 40])


def test_initial_weights_are_those_of_gpt2(model):
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            assert torch.all(weight == 1), name
        else:
            expected = 0.02 / math.sqrt(8) if name.endswith("out.weight") else 0.02
            assert weight.std().item() == pytest.approx(expected, rel=0.05), name
            assert abs(weight.mean().item()) < 3 * expected / math.sqrt(weight.numel()) * 2, name


def test_attention_is_the_formula_of_the_paper(model):
    attention = model.blocks[0].attention
    x = torch.randn(2, 10, 128)
    q, k, v = attention.qkv(x).split(128, dim=-1)
    heads = [t.view(2, 10, 4, 32).transpose(1, 2) for t in (q, k, v)]
    scores = heads[0] @ heads[1].transpose(-2, -1) / math.sqrt(32)
    hidden = torch.ones(10, 10, dtype=torch.bool).triu(1)
    mixed = scores.masked_fill(hidden, -math.inf).softmax(-1) @ heads[2]
    expected = attention.out(mixed.transpose(1, 2).reshape(2, 10, 128))
    torch.testing.assert_close(attention(x), expected)


def test_attention_in_fp32_is_the_same_up_to_bfloat16(model):
    torch.manual_seed(0)
    other = GPT(SHAPE, attention_in_fp32=True)
    tokens, targets = torch.randint(0, 65, (2, 4, 64))
    with torch.autocast("cpu", torch.bfloat16):
        difference = model(tokens, targets) - other(tokens, targets)
    assert abs(difference.item()) < 1e-3


def test_the_loss_is_the_mean_cross_entropy(model):
    tokens, targets = torch.randint(0, 65, (2, 3, 20))
    by_hand = F.log_softmax(model.logits(tokens), dim=-1).gather(-1, targets[..., None])
    torch.testing.assert_close(model(tokens, targets), -by_hand.mean())


def test_a_text_longer_than_the_context_is_refused(model):
    with pytest.raises(ValueError, match="65 tokens do not fit into a context of 64"):
        model.logits(torch.zeros(1, 65, dtype=torch.long))


def test_a_block_is_torchs_own_encoder_layer_with_a_causal_mask(model):
    block = model.double().blocks[1]
    layer = nn.TransformerEncoderLayer(
        128, 4, 512, dropout=0.0, activation="gelu", batch_first=True, norm_first=True,
        bias=False, dtype=torch.float64,
    )  # fmt: skip
    layer.load_state_dict(
        {
            "self_attn.in_proj_weight": block.attention.qkv.weight,
            "self_attn.out_proj.weight": block.attention.out.weight,
            "linear1.weight": block.feed_forward.up.weight,
            "linear2.weight": block.feed_forward.out.weight,
            "norm1.weight": block.norm_1.weight,
            "norm2.weight": block.norm_2.weight,
        }
    )
    torch.manual_seed(0)
    x = torch.randn(2, 10, 128, dtype=torch.float64)
    masked = torch.ones(10, 10, dtype=torch.bool).triu(1)  # True is hidden here, unlike in SDPA
    torch.testing.assert_close(block(x), layer(x, src_mask=masked), atol=1e-10, rtol=0)
    normed = block.norm_1(x)
    theirs, weights = layer.self_attn(normed, normed, normed, attn_mask=masked)
    torch.testing.assert_close(block.attention(normed), theirs, atol=1e-10, rtol=0)
    assert weights.shape == (2, 10, 10)


@pytest.mark.slow
def test_the_model_says_what_hugging_faces_gpt2_says():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_embd=128, n_layer=4, n_head=4, n_positions=64, vocab_size=65, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, activation_function="gelu", bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model, theirs = GPT(SHAPE).double(), GPT2LMHeadModel(config).double().eval()
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.1 * torch.randn_like(each))
        for each in theirs.parameters():
            each.zero_()  # ours has no biases
    state = {_their_name(name): value for name, value in model.state_dict().items()}
    matrices = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    turned = {k: v.T if k.endswith(matrices) else v for k, v in state.items()}  # Conv1D is x @ w
    left_out = theirs.load_state_dict(turned, strict=False)
    assert not left_out.unexpected_keys
    assert all(name.endswith("bias") for name in left_out.missing_keys)
    ids = torch.randint(65, (2, 30))
    with torch.no_grad():
        torch.testing.assert_close(model.logits(ids), theirs(ids).logits, atol=1e-5, rtol=0)


def _their_name(name: str) -> str:
    for ours, theirs in (
        ("tokens", "transformer.wte"),
        ("positions", "transformer.wpe"),
        ("blocks.", "transformer.h."),
        ("attention.qkv", "attn.c_attn"),
        ("attention.out", "attn.c_proj"),
        ("feed_forward.up", "mlp.c_fc"),
        ("feed_forward.out", "mlp.c_proj"),
        ("head", "lm_head"),
    ):
        name = name.replace(ours, theirs)
    name = name.replace("norm_", "ln_")
    return name.replace("norm.", "transformer.ln_f.") if name.startswith("norm.") else name
