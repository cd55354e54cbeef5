"""Out-of-memory texts: the forms of torch 1.x and 2.x, of its other allocators and of launchers."""

import random

import pytest

from core.budget import DEVICES, MODELS
from core.budget.cluster import Cluster
from core.budget.diagnosis.moments import moment_of, step_totals
from core.budget.diagnosis.out_of_memory import Told, read_out_of_memory
from core.budget.diagnosis.sentences import elsewhere_sentence, out_of_memory_sentence
from core.budget.diagnosis.suspects import find_suspects, held_states
from core.budget.planning.plan import Plan
from core.budget.recipe import TrainingRecipe
from core.units import GIB, MIB

OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 3.14 GiB (GPU 5; 31.75 GiB total "
    "capacity; 28.28 GiB already allocated; 1.95 GiB free; 28.28 GiB reserved in total by PyTorch) "
    "If reserved memory is >> allocated memory try setting max_split_size_mb"
)
NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 172.00 MiB. GPU 0 has a total "
    "capacity of 79.35 GiB of which 100.00 MiB is free. Process 77 has 200.00 MiB memory in use. "
    "Including non-PyTorch memory, this process has 78.50 GiB memory in use. Of the allocated "
    "memory 73.12 GiB is allocated by PyTorch, and 4.61 GiB is reserved by PyTorch but "
    "unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_ALLOC_CONF=expandable_segments:True"
)
FORMS = {
    OLD: ("cuda", 3.14 * GIB, 31.75 * GIB, 28.28 * GIB, 0),
    OLD.replace("reserved in total by PyTorch", "cached"): (
        "cuda", 3.14 * GIB, 31.75 * GIB, 28.28 * GIB, 0,
    ),
    NEW: ("cuda", 172 * MIB, 79.35 * GIB, 73.12 * GIB, 4.61 * GIB),
    NEW.replace("capacity", "capacty"): ("cuda", 172 * MIB, 79.35 * GIB, 73.12 * GIB, 4.61 * GIB),
    NEW.replace("CUDA", "HIP"): ("cuda", 172 * MIB, 79.35 * GIB, 73.12 * GIB, 4.61 * GIB),
    "[rank3]: " + NEW.replace(". ", ".\n[rank3]: "): (
        "cuda", 172 * MIB, 79.35 * GIB, 73.12 * GIB, 4.61 * GIB,
    ),
    "MPS backend out of memory (MPS allocated: 9.05 GiB, other allocations: 3.20 GiB, max allowed: "
    "18.13 GiB). Tried to allocate 320.00 MiB on private pool.": (
        "mps", 320 * MIB, 18.13 * GIB, 9.05 * GIB, None,
    ),
    "NPU out of memory. Tried to allocate 2.90 GiB (NPU 3; 60.97 GiB total capacity; 54.10 GiB "
    "already allocated; 54.10 GiB current active; 1.22 GiB free; 56.60 GiB reserved in total by "
    "PyTorch)": ("cuda", 2.90 * GIB, 60.97 * GIB, 54.10 * GIB, 2.50 * GIB),
    "RuntimeError: Invalid buffer size: 24.00 GB": ("mps", 24 * GIB, None, None, None),
    "RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't "
    "allocate memory: you tried to allocate 17179869184 bytes. Error code 12": (
        "cpu", 17179869184, None, None, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_every_form_gives_its_numbers(text):
    allocator, requested, total, allocated, idle = FORMS[text]
    told = read_out_of_memory(text)
    assert told.allocator == allocator
    for found, wanted in (
        (told.requested, requested), (told.total, total), (told.allocated, allocated),
        (told.idle, idle),
    ):  # fmt: skip
        assert (found is None) == (wanted is None), text
        if found is not None:
            assert found.agrees(wanted), text


def test_parts_of_a_new_text_add_up_to_the_device():
    told = read_out_of_memory(NEW)
    assert told.parts["other_processes"] == 200 * MIB
    assert told.parts["context"] == pytest.approx(0.77 * GIB, abs=0.02 * GIB)
    assert sum(told.parts.values()) == pytest.approx(79.35 * GIB, rel=0.01)
    assert told.is_fragmented
    assert told.device == 0


@pytest.mark.parametrize(
    "changed",
    [
        "\n".join(NEW[start : start + 80] for start in range(0, len(NEW), 80)),
        "> " + NEW.replace(". ", ".\n> ").replace("this process", "this\n> process"),
        f"(EngineCore_DP0 pid=4211) ERROR 11-20 10:10:10 [core.py:708] {NEW}",
        NEW.replace("172.00", "\x1b[1;31m172.00\x1b[0m").replace("GPU 0", "[36mGPU 0[39m"),
        f"Help!\n```\n{NEW}\n```\nIt ran before.",
    ],
    ids=["wrapped by a terminal", "quoted", "with a prefix", "coloured", "fenced"],
)
def test_what_stands_around_a_text_changes_no_number(changed):
    assert read_out_of_memory(changed) == read_out_of_memory(NEW)


def test_in_a_container_torchs_own_process_has_another_number():
    """Its own bytes are no other process's: the parts would be more than the device has."""
    own = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB "
        "of which 1.06 GiB is free. Process 7 has 50.09 GiB memory in use. Process 9 has 28.00 GiB "
        "memory in use. Of the allocated memory 49.10 GiB is allocated by PyTorch, and 300.00 MiB "
        "is reserved by PyTorch but unallocated."
    )
    told = read_out_of_memory(own)
    assert told.in_process == Told(num_bytes=round(50.09 * GIB), error=GIB // 200)
    assert told.parts["other_processes"] == 28 * GIB
    assert sum(told.parts.values()) == pytest.approx(79.15 * GIB, rel=0.001)


def test_two_ranks_texts_are_counted_and_the_first_is_read():
    told = read_out_of_memory(f"[rank0]: {NEW}\nTraceback\n[rank1]: {OLD}")
    assert told.num_texts == 2
    assert told.requested.num_bytes == 172 * MIB


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no out-of-memory error"),
        ("CUDA error: out of range", "no out-of-memory error"),
        ("CUDA out of memory. Buy more.", "does not say how much"),
        ("x" * (5 * MIB + 1), "at most 5,242,880"),
    ],
)
def test_what_is_no_such_text_is_refused_in_words(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_out_of_memory(text)


def test_torn_and_garbled_texts_give_numbers_or_a_sentence():
    chance = random.Random(0)  # noqa: S311
    for _ in range(400):
        text = list(chance.choice(list(FORMS)))
        for _change in range(chance.randrange(40)):
            text[chance.randrange(len(text))] = chance.choice("0123456789.;()GiB \n\0é")
        try:
            told = read_out_of_memory("".join(text)[: chance.randrange(600)])
        except ValueError:
            continue
        assert told.requested.num_bytes >= 0
        assert all(size >= 0 for size in told.parts.values())


# Public reports; the size, and what it is to the byte.
@pytest.mark.parametrize(
    ("model", "devices", "recipe", "asked", "num_bytes", "tensor"),
    [
        ("llama-2-7b", 8, {}, "3.14 GiB", -(-6_738_415_616 // 8) * 4, ""),
        ("llama-2-7b", 1, {}, "172.00 MiB", 11_008 * 4096 * 4, "ffn"),
        ("llama-2-7b", 4, {}, "388.00 MiB", 202_383_360 * 2, ""),
        ("llama-2-7b", 1, {}, "774.00 MiB", 202_383_360 * 4, ""),
        ("mistral-7b-v0.1", 1, {"seq_len": 32768}, "896.00 MiB", 32768 * 14336 * 2, "inner"),
    ],
)
def test_the_posted_sizes_are_explained_to_the_byte(
    model, devices, recipe, asked, num_bytes, tensor
):
    told = read_out_of_memory(f"CUDA out of memory. Tried to allocate {asked}")
    cluster = Cluster(device=DEVICES["a100-80gb"], num_devices=devices)
    found = find_suspects(told, MODELS[model], TrainingRecipe(**recipe), cluster)
    assert (found[0].item.num_bytes, found[0].tensor) == (num_bytes, tensor)


def test_where_nothing_has_the_size_nothing_is_found():
    told = read_out_of_memory("CUDA out of memory. Tried to allocate 3.33 GiB")
    cluster = Cluster(device=DEVICES["a100-80gb"])
    assert find_suspects(told, MODELS["llama-2-7b"], TrainingRecipe(), cluster) == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "20.00 MiB",
            "20.00 MiB is what torch asks for any tensor below 10.0 MiB, such as the key",
        ),
        ("2.00 MiB", "2.00 MiB is what torch asks for any tensor below 1.00 MiB: it does not tell"),
        ("1002.00 MiB", "1002.00 MiB is the size of the token embedding or the head, 16 bits: "),
    ],
)
def test_the_size_of_a_shared_segment_accuses_no_tensor(asked, said):
    told = read_out_of_memory(f"CUDA out of memory. Tried to allocate {asked}")
    plan = Plan(spec=MODELS["llama-3.1-8b"], cluster=Cluster(device=DEVICES["a100-80gb"]))
    found = find_suspects(told, plan.spec, plan.recipe, plan.cluster)
    assert out_of_memory_sentence(told, found, plan).startswith(said)


def test_a_tensor_of_the_recipes_length_comes_before_one_of_the_longest_that_the_model_takes():
    """1 GiB: 1 x 32 x 4,096 x 4,096 scores of 16 bits, or 131,072 tokens x 4,096 x 2 bytes."""
    told = read_out_of_memory("CUDA out of memory. Tried to allocate 1.00 GiB")
    recipe, cluster = TrainingRecipe(seq_len=4096), Cluster(device=DEVICES["a100-80gb"])
    found = find_suspects(told, MODELS["llama-3.1-8b"], recipe, cluster)
    assert [(each.tensor, each.num_tokens) for each in found] == [
        ("scores", 4096), ("hidden", 131_072),
    ]  # fmt: skip


def test_other_models_with_a_tensor_of_that_size_are_named():
    plan = Plan(spec=MODELS["llama-3.1-8b"], cluster=Cluster(device=DEVICES["a100-80gb"]))
    told = read_out_of_memory("CUDA out of memory. Tried to allocate 172.00 MiB")
    assert "Llama-2 7B, a feed-forward matrix of a layer, fp32 (11,008 × 4,096 × 4)" in (
        elsewhere_sentence(told, plan)
    )
    for asked in ("3.33 GiB", "20.00 MiB"):  # no model has it; any may have it
        told = read_out_of_memory(f"CUDA out of memory. Tried to allocate {asked}")
        assert elsewhere_sentence(told, plan) == ""


def test_nothing_allocated_is_no_state_of_a_training():
    """torch says so where the first tensor does not fit."""
    text = OLD.replace("28.28 GiB already", "0 bytes already")
    told = read_out_of_memory(text)
    assert told.allocated == Told(num_bytes=0, error=0)
    assert held_states(told.allocated, MODELS["llama-2-7b"], 8) is None


def test_a_device_of_thousands_of_digits_is_none():
    assert read_out_of_memory(NEW).device == 0
    assert read_out_of_memory(NEW.replace("GPU 0", f"GPU {'9' * 5000}")).device is None


def test_the_states_of_zero_2_explain_28_24_of_28_28_gib():
    """fp16 weights, and five fp32 numbers a parameter over eight devices: a public report."""
    told = read_out_of_memory(OLD)
    states = held_states(told.allocated, MODELS["llama-2-7b"], 8)
    assert (states.num_fp32, states.num_shards, states.in_16_bits) == (5, 8, True)
    assert states.item.num_bytes / GIB == pytest.approx(28.24, abs=0.005)


def test_the_bytes_of_each_moment_name_that_moment():
    plan = Plan(
        spec=MODELS["llama-2-7b"], cluster=Cluster(device=DEVICES["h100-sxm"], num_devices=8),
        recipe=TrainingRecipe(checkpointing="full"),
    )  # fmt: skip
    moments = step_totals(plan)
    assert [each.name for each in moments][-1] == "optimizer step"
    for moment in moments:
        found = moment_of(Told(num_bytes=moment.num_bytes, error=0), moments)
        assert found is not None
        assert found.amount == moment.amount
    assert moment_of(Told(num_bytes=1, error=0), moments) is None


@pytest.mark.parametrize(
    "filler", ["9", "\n", " 9.", "process 1 has 1 GiB memory in use ", "(x", "[0", "\n(x pid=1"]
)
def test_a_long_text_takes_time_in_proportion_to_its_length(filler):
    """Numbers, ranks and processes without end: in quadratic time this would take hours."""
    text = "CUDA out of memory. Tried to allocate 2.00 GiB\n" + filler * (4_900_000 // len(filler))
    assert read_out_of_memory(text).requested.num_bytes == 2 * 2**30
