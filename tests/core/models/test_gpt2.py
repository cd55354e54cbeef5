import torch

from core.models.build import build_model
from tests.core.budget.simulation.test_prepared import GPT2


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
    ours = build_model(GPT2, "cpu", device="cpu")
    ours.load_state_dict(_our_state(theirs.state_dict()))
    ids = torch.randint(GPT2.vocab_size, (2, 20))
    with torch.no_grad():
        mine = ours.head(ours.hidden(ids))
        torch.testing.assert_close(mine, theirs(ids).logits, atol=1e-5, rtol=1e-4)


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
