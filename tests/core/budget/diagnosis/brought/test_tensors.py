"""Headers of checkpoints: their bytes by dtype, and the model that the shapes are of."""

import json
import random
import struct

import pytest
import torch

from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.diagnosis.brought.gguf_header import _TENSORS
from core.budget.diagnosis.brought.read import read_brought
from core.budget.diagnosis.brought.record import KINDS, Brought
from core.budget.weights.gguf import GGUF_BLOCKS
from core.budget.weights.parameters import count_parameters
from tests.core.budget.diagnosis.brought.made_files import TEXTS
from tests.core.budget.diagnosis.brought.made_headers import (
    SMALL,
    count,
    gguf,
    index,
    printed,
    real_safetensors,
    safetensors_header,
    shapes,
)


def amounts(found):
    return {item.name: item.amount for item in found.items}


@pytest.mark.parametrize(
    ("dtype", "size", "weights"),
    [
        (torch.float32, 4, "float32"),
        (torch.bfloat16, 2, "bfloat16"),
        (torch.float16, 2, "bfloat16"),
    ],
)
def test_a_file_of_the_library_is_counted_to_the_byte(dtype, size, weights):
    content = real_safetensors(dtype=dtype)
    found = read_brought(content)
    length = int.from_bytes(content[:8], "little")
    assert amounts(found) == {
        "weights": len(content) - 8 - length, "parameters": count(shapes(SMALL)),
    }  # fmt: skip
    assert amounts(found)["weights"] == size * count(shapes(SMALL))
    assert found.settings == {"weights": weights}
    assert count_parameters(read_config(found.config)).amount == count(shapes(SMALL))
    assert read_brought(content[: 8 + length]) == found


def test_shapes_of_a_model_of_the_catalogue_are_that_model():
    found = read_brought(safetensors_header())
    assert (found.kind, found.model, found.config) == ("safetensors", "llama-2-7b", "")
    assert amounts(found)["parameters"] == MODELS["llama-2-7b"].published
    llama = read_brought(safetensors_header((32, 4096, 4096, 1024, 14336, 128256)))
    assert llama.model == "llama-3.1-8b"
    assert "llama-3-8b" in llama.notes[0]


def test_a_part_of_a_checkpoint_is_no_model():
    content = safetensors_header()
    fields = json.loads(content[8:])
    del fields["model.layers.7.mlp.gate_proj.weight"]
    text = json.dumps(fields).encode()
    found = read_brought(struct.pack("<Q", len(text)) + text)
    assert (found.model, found.config) == ("", "")
    assert "config.json" in found.notes[0]


def test_an_adapter_says_nothing_of_the_format_of_its_model():
    layer = "base_model.model.model.layers.0.self_attn.q_proj"
    fields = {
        f"{layer}.lora_A.weight": {"dtype": "F32", "shape": [8, 64], "data_offsets": [0, 2048]},
        f"{layer}.lora_B.weight": {"dtype": "F32", "shape": [64, 8], "data_offsets": [2048, 4096]},
    }
    text = json.dumps(fields).encode()
    found = read_brought(struct.pack("<Q", len(text)) + text)
    assert (found.settings, found.config, amounts(found)["parameters"]) == ({}, "", 1024)
    assert len(found.notes) == 1
    assert "LoRA" in found.notes[0]


def test_codes_of_quantized_weights_are_bytes_but_no_parameters():
    fields = {"a.weight": {"dtype": "U8", "shape": [100, 1], "data_offsets": [0, 100]}}
    text = json.dumps(fields).encode()
    found = read_brought(struct.pack("<Q", len(text)) + text)
    assert amounts(found) == {"weights": 100}
    assert found.settings == {}


def test_printed_shapes_are_read_with_and_without_dtypes():
    found = read_brought(printed().encode())
    assert (found.kind, amounts(found)) == ("state_dict", {"parameters": count(shapes(SMALL))})
    with_dtypes = printed().replace("torch.Size", "torch.float16 ").encode()
    assert amounts(read_brought(with_dtypes))["weights"] == 2 * count(shapes(SMALL))
    assert read_config(read_brought(with_dtypes).config).num_layers == SMALL[0]


def test_an_index_tells_bytes_and_files():
    found = read_brought(index().encode())
    assert (found.kind, amounts(found)) == ("index", {"weights": 2 * count(shapes(SMALL))})
    assert "21 tensors in 3 files" in found.notes[0]


def test_a_gguf_header_is_counted_by_type():
    found = read_brought(gguf())
    assert (found.kind, found.model, found.named) == ("gguf", "llama-2-7b", "LLaMA v2")
    norms = sum(
        shape[0]
        for shape in shapes((32, 4096, 4096, 4096, 11008, 32000)).values()
        if len(shape) == 1
    )
    matrices = amounts(found)["parameters"] - norms
    assert amounts(found)["weights"] == matrices * 144 // 256 + 4 * norms
    assert amounts(found)["parameters"] == MODELS["llama-2-7b"].published
    half = read_brought(gguf(kind=1, context=8192))
    assert half.settings == {"work": "serve", "weights": "bfloat16"}
    other = read_brought(gguf((2, 256, 256, 128, 512, 1000)))
    assert read_config(other.config).vocab_size == 1000
    unknown = read_brought(gguf((2, 256, 256, 128, 512, 1000), architecture="rwkv7"))
    assert (unknown.model, unknown.config) == ("", "")


def test_the_blocks_of_gguf_are_those_of_the_rest_of_the_budget():
    rows = {name: (size, num_bytes) for name, size, num_bytes in _TENSORS.values()}
    for name, block in GGUF_BLOCKS.items():
        assert rows[name] == tuple(block), name


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<Q", 1 << 40) + b'{"a":',
        struct.pack("<Q", 500) + b'{"a": 1}',
        struct.pack("<Q", 8) + b'{"a": 1}',
        struct.pack("<Q", 2) + b"{}",
        safetensors_header()[:5000],
        safetensors_header().replace(b"4096", b"4097", 1),
        b"GGUF",
        b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60),
        b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 1 << 63),
        gguf()[:700],
        b'{"weight_map": [], "metadata": {}}',
        b'{"weight_map": {}, "metadata": {"total_size": "much"}}',
    ],
)
def test_torn_and_lying_headers_are_refused_in_words(content):
    with pytest.raises(ValueError, match=r"header|Version"):
        read_brought(content)


def _mutated(content, rng):
    data = bytearray(content)
    match rng.randrange(6):
        case 0:
            del data[rng.randrange(len(data)) :]
        case 1:
            for _time in range(rng.randrange(1, 20)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 2:
            place = rng.randrange(len(data))
            data[place : place + 8] = struct.pack(
                "<Q", rng.choice((0, 1 << 31, 1 << 40, 2**64 - 1))
            )
        case 3:
            place = rng.randrange(len(data))
            data[place:place] = rng.choice((b"[", b"{", b'{"a":', b"(", b"- ", b"*a ")) * 3000
        case 4:
            start, end = sorted(rng.randrange(len(data)) for _side in range(2))
            data[start:end] = data[start:end][:4000] * 2
        case _:
            for digit in rng.sample(range(10), 3):
                data = data.replace(
                    str(digit).encode(), rng.choice((b"-1", b"9" * 400, b"0xff", b"'"))
                )
    return bytes(data)


def test_whatever_is_damaged_is_read_or_refused_in_words():
    small = (2, 256, 256, 128, 512, 60)
    files = [text.encode() for text in TEXTS.values()]
    files += [
        safetensors_header(small),
        gguf(small),
        printed(small).encode(),
        index(small).encode(),
    ]
    rng = random.Random(20260112)  # noqa: S311
    read, refused = 0, []
    for turn in range(600):
        content = _mutated(files[turn % len(files)], rng)
        try:
            found = read_brought(content, "file")
        except ValueError as error:
            refused.append(str(error))
            continue
        read += 1
        assert isinstance(found, Brought)
        assert found.kind in KINDS
        if found.config:
            read_config(found.config)
        repr(found)
    assert min(read, len(refused)) > 100
    assert min(len(each) for each in refused) > 20


@pytest.mark.parametrize("shape", [[], [0, 0], [1], [1 << 45, 2]])
@pytest.mark.parametrize("name", ["model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight"])
def test_a_tensor_of_an_odd_shape_costs_no_more_than_the_model(name, shape):
    lines = printed().splitlines()
    odd = [f"{name} torch.Size({shape})" if line.startswith(name) else line for line in lines]
    found = read_brought("\n".join(odd).encode())
    assert found.kind == "state_dict"
    assert (found.model, found.config) == ("", "")


def test_numbers_without_end_are_no_tensors():
    text = "a.b (1234, 7)\nc.d (" + "9" * 300 + ")\n"
    assert amounts(read_brought(text.encode())) == {"parameters": 1234 * 7}
