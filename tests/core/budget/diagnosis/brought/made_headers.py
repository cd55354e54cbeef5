"""Headers of checkpoints: what a Llama-like model's files begin with."""

import json
import struct
from math import prod

LLAMA_2_7B = (32, 4096, 4096, 4096, 11008, 32000)  # layers, hidden, queries, keys, ffn, vocabulary
SMALL = (2, 256, 256, 128, 512, 1000)


def shapes(sizes, *, tied=False):
    """Return the shapes of a Llama by their names in transformers."""
    layers, hidden, queries, keys, ffn, vocab = sizes
    found = {"model.embed_tokens.weight": (vocab, hidden), "model.norm.weight": (hidden,)}
    for layer in range(layers):
        matrices = {
            "self_attn.q_proj": (queries, hidden), "self_attn.k_proj": (keys, hidden),
            "self_attn.v_proj": (keys, hidden), "self_attn.o_proj": (hidden, queries),
            "mlp.gate_proj": (ffn, hidden), "mlp.up_proj": (ffn, hidden),
            "mlp.down_proj": (hidden, ffn), "input_layernorm": (hidden,),
            "post_attention_layernorm": (hidden,),
        }  # fmt: skip
        found |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in matrices.items()}
    return found if tied else found | {"lm_head.weight": (vocab, hidden)}


def count(found):
    return sum(prod(shape) for shape in found.values())


def real_safetensors(sizes=SMALL, dtype=None):
    """Return a file as the library writes it; torch is loaded only for this."""
    import torch
    from safetensors.torch import save

    found = {
        name: torch.zeros(shape, dtype=dtype or torch.bfloat16)
        for name, shape in shapes(sizes).items()
    }
    return save(found, metadata={"format": "pt"})


def safetensors_header(sizes=LLAMA_2_7B):
    """Return the header alone of a file that would be too large to write."""
    fields, place = {}, 0
    for name, shape in shapes(sizes).items():
        end = place + 2 * prod(shape)
        fields[name] = {"dtype": "F16", "shape": list(shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(fields).encode()
    return struct.pack("<Q", len(text)) + text


def printed(sizes=SMALL):
    return "\n".join(
        f"{name} \t torch.Size({list(shape)})" for name, shape in shapes(sizes).items()
    )


def index(sizes=SMALL):
    names = shapes(sizes)
    files = {
        name: f"model-0000{1 + place % 3}-of-00003.safetensors" for place, name in enumerate(names)
    }
    return json.dumps({"metadata": {"total_size": 2 * count(names)}, "weight_map": files})


def _text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf(sizes=LLAMA_2_7B, kind=12, context=4096, architecture="llama"):
    """Return a header as llama.cpp writes it: matrices in one type, norms in float32."""
    layers, hidden, queries, keys, ffn, vocab = sizes
    numbers = {
        "block_count": layers, "embedding_length": hidden, "feed_forward_length": ffn,
        "attention.head_count": queries // 128, "attention.head_count_kv": keys // 128,
        "context_length": context,
    }  # fmt: skip
    fields = [_text("general.architecture") + struct.pack("<I", 8) + _text(architecture)]
    fields.append(_text("general.name") + struct.pack("<I", 8) + _text("LLaMA v2"))
    fields += [
        _text(f"{architecture}.{name}") + struct.pack("<II", 4, number)
        for name, number in numbers.items()
    ]
    tokens = _text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, vocab)
    fields.append(tokens + b"".join(_text(str(token)) for token in range(vocab)))
    scores = _text("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, 3)
    fields.append(scores + struct.pack("<3f", 1, 2, 3))
    tensors, place = [], 0
    for name, shape in shapes(sizes).items():
        named = _text("output.weight" if name == "lm_head.weight" else name)
        axes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        tensors.append(named + axes + struct.pack("<IQ", kind if len(shape) > 1 else 0, place))
        place += 32
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    return start + b"".join(fields) + b"".join(tensors)
