"""A model as the config.json that describes it: what a link to a page of budgets carries."""

import json
from typing import Final

from core.budget.catalogue.hf_families import FAMILIES
from core.models.spec import GPTShape, ModelSpec

_SIZES: Final = ("num_layers", "hidden_dim", "num_heads", "vocab_size", "seq_len")
_MORE: Final = (*_SIZES, "num_kv_heads", "head_dim", "ffn_dim")


def config_of(model: GPTShape | ModelSpec) -> str:
    """Return the config.json of a GPT-2 or of a Llama of these sizes; `read_config` reads it.

    GPT-2 has biases, which our GPT leaves out.
    """
    is_gpt = isinstance(model, GPTShape)
    kind, title, sizes = ("gpt2", "GPT-2", _SIZES) if is_gpt else ("llama", "Llama", _MORE)
    names = FAMILIES[kind].names
    config = {
        "model_type": kind,
        "_name_or_path": f"{title} {model.num_layers}x{model.hidden_dim}",
        **{names[size]: getattr(model, size) for size in sizes},
    }
    return json.dumps(config, separators=(",", ":"))
