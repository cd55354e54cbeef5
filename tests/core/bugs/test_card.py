"""Each card gives the wrong number that was met, or is expected, and the right one."""

import math
import struct
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.bugs.card import SUBJECTS, play, program_of
from core.bugs.deck import BY_KEY, DECK, choices_of
from core.bugs.running import run_cell

HALF, BRAIN = torch.finfo(torch.float16), torch.finfo(torch.bfloat16)
FLOAT32 = np.float32
H100_DENSE = 989.4e12  # FLOP/s in bf16, NVIDIA's data sheet
B, D, K = 16_384, 32_768, 8_192
# What the claim says and what is true, from closed forms, torch's limits and documented errors.
EXPECTED = {
    "bits-are-not-digits": ("8", f"{8 * math.log10(2):.2g}"),
    "eps-of-bfloat16": (f"{BRAIN.eps / 2:.2e}", f"{BRAIN.eps:.2e}"),
    "fp16-underflow": (f"{HALF.smallest_normal:.2e}", f"{2**-25:.2e}"),
    "scaler-for-bfloat16": ("0", "1e-08"),
    "eps-of-e5m2fnuz": ("0.125", "0.25"),
    "gib-called-gb": (f"{28e9 / 2**30:.1f} GB", "28.0 GB"),
    "embedding-in-gb": (f"{32_000 * 4096 * 4 / 2**30:.2f} GB", f"{32_000 * 4096 * 4 / 1e9:.2f} GB"),
    "positions-counted": (f"{32_512 * 4096:,}", f"{34_048 * 4096:,}"),
    "seventy-billion-cards": ("4 × GPU", "2 × GPU"),
    "thirteen-billion-card": ("52 GB", "26 GB"),
    "thirteen-billion": (f"{13_015_864_320 * 4 / 2**30:.2f} GiB", f"{52e9 / 2**30:.2f} GiB"),
    "largest-on-24-gb": ("7 B", "34 B"),
    "training-factor": ("4 ×", "8 ×"),
    "h100-bytes": ("80.0 GB", f"{81_559 * 1_048_576 / 1e9:.1f} GB"),
    "gradients-under-autocast": ("torch.bfloat16", "torch.float32"),
    # input and two layers of 8 numbers, prediction and target of 2
    "activations-b-d-l": ("16", f"{3 * 2 * 4 + 2 * 2}"),
    "largest-on-eight-h100": ("40.0 B", f"{640 / 12:.1f} B"),
    "two-weeks": (f"{8 * 7 * 86_400 * H100_DENSE:.3e}", f"{8 * 14 * 86_400 * H100_DENSE:.3e}"),
    "faster-than-the-peak": ("50 µs", f"{2 * 4096**3 / 165.2e12 * 1e6:,.0f} µs"),
    "sparse-peak": (f"{500 / 1978.9 * 100:.1f} %", f"{500 / 989.4 * 100:.1f} %"),
    "item-waits": ("1 ×", "100 ×"),
    "first-layer-is-cheaper": (
        f"{4 * B * D * D + 4 * B * D * K:.3e}",
        f"{2 * B * D * D + 4 * B * D * K:.3e}",
    ),
    "view-or-reshape": ("(6,)", "RuntimeError"),
    "mean-becomes-sum": ("1.0", "4.0"),
    "view-needs-contiguous": ("RuntimeError", "(2, 2, 3)"),
    "triu-sees-the-future": ("0", f"{4 * 3 // 2}"),
    "a-row-all-masked": ("0", "nan"),
    "true-means-masked": ("1.00", "0.00"),
    "typed-storage": ("2", "UserWarning"),
    "printed-gradient": (f"{-11 / 3:.4f}", f"{-26 / 3:.4f}"),
    "leaf-in-no-grad": ("None", "[2.0, 2.0, 2.0]"),
    "nodes-are-functions": ("Tensor", "MulBackward0"),
    "backward-of-a-vector": ("RuntimeError", "[2.0, 2.0]"),
    "only-leaves-keep": ("None", "12"),
    "checkpoint-warns": ("2", "UserWarning"),
    "last-batch-counts-too-much": ("2.00", f"{(96 + 8 * 5) / 104:.2f}"),
    "num-layers-ignored": (f"{8 + 1}", f"{4 * (8 * 8 + 8) + 8 + 1}"),
    "a-line-after-100-epochs": ("y = 2.00x + 1.00", "y = 2.07x + 0.79"),
    "cosine-too-short": ("0.0e+00", "1.0e-03"),
    "batchnorm-of-one": ("4.00", "ValueError"),
    "old-grad-scaler": ("1", "FutureWarning"),
    "tofile-is-no-npy": ("[0, 1, 2, 3]", "ValueError"),
    "whole-model-saved": ("['weight', 'bias']", "UnpicklingError"),
    "saving-on-every-rank": ("2", "1"),
    "last-token-never-drawn": (f"{10 - 1}", f"{10 - 2}"),
    "numpy-number-in-checkpoint": ("1.5", "UnpicklingError"),
    "weights-only-false": ("UnpicklingError", "['model', 'epoch', 'loss']"),
    "total-mem": ("total_mem", "total_memory"),
    "lora-finds-nothing": ("4", "0"),
    "mixed-devices": ("(2, 4)", "RuntimeError"),
    "kaiming-in-a-gpt": (f"{math.sqrt(2 / 768):.3f}", "0.020"),  # GPT-2's paper: 0.02
}
# Of claims that are true: what many expect, and what is claimed and true.
TRUE = {
    "tenths-add-up": (f"{0.1 + 0.2 == 0.3}", f"{FLOAT32(0.1) + FLOAT32(0.2) == FLOAT32(0.3)}"),
    "no-257-in-bfloat16": ("257", f"{2**8}"),
    "kv-cache-of-seventy": (f"{80 * 2 * 64 * 128 * 2 / 1024:,.0f} KiB", f"{80 * 2 * 8 // 4} KiB"),
    "attention-is-a-small-share": (
        f"{100 * 4096 / (4096 + 2 * 8192):.1f} %",
        f"{100 / (1 + 68_976_648_192 / (80 * 2 * 4096 * 8192)):.1f} %",
    ),
    "a-million-in-four-bytes": ("4,000,000 B", f"{torch.float32.itemsize} B"),
    "detach-shares-memory": ("[0.0, 0.0]", "[1.0, 1.0]"),
    "where-lets-nan-through": ("0", f"{0 * math.inf}"),
    "first-step-of-adam": (f"{0.001 * 1000:.3f}", f"{0.001 * 1000 / math.sqrt(1000**2):.3f}"),
    "a-thousand-more": (f"{math.inf - math.inf}", f"{math.log(3):.4f}"),
}
EXPECTED |= TRUE
# Where chance or an allocator decides: between which numbers wrong and right lie.
BETWEEN = {
    "two-models-alive": ((8.0, 8.2), (4.0, 4.1)),  # 262,656 numbers x 4 copies x 4 bytes
    "checkpoint-each-layer": ((1.9, 2.1), (3.9, 4.1)),  # 16 layers of 64 x 1024 numbers
    "lr-ignored": ((1, 12), (0, 0.1)),
    "random-labels": ((0, 0.2), (math.log(3), 1.3)),
    "one-seed-for-all": ((-0.1, 0.1), (0.999, 1.001)),
    "saved-view-is-whole": ((0, 0.005), (4, 4.005)),  # 4 bytes, a million of them; and a header
    "embedding-values": ((0.0019, 0.0021), (0.99, 1.01)),
    "bounds-in-sigmas": ((2.9, 3.001), (3.5, 6)),
    "first-loss-of-a-gpt": ((math.log(8192), math.log(8192)), (100, 2000)),
}
SAYS = {
    "view-or-reshape": "view size is not compatible",
    "view-needs-contiguous": "view size is not compatible",
    "backward-of-a-vector": "grad can be implicitly created only for scalar outputs",
    "typed-storage": "TypedStorage is deprecated",
    "checkpoint-warns": "use_reentrant",
    "batchnorm-of-one": "Expected more than 1 value per channel",
    "old-grad-scaler": "torch.amp.GradScaler",
    "tofile-is-no-npy": "allow_pickle",
    "whole-model-saved": "Weights only load failed",
    "mixed-devices": "Tensor on device cpu is not on the expected device meta",
    "numpy-number-in-checkpoint": "Weights only load failed",
    "weights-only-false": "Weights only load failed",
}
each_card = pytest.mark.parametrize("card", DECK, ids=[card.key for card in DECK])


def test_every_card_has_its_numbers_here_and_a_key_of_its_own():
    assert len(BY_KEY) == len(DECK)
    assert set(BY_KEY) == set(EXPECTED) | set(BETWEEN)
    assert {card.subject for card in DECK} == set(SUBJECTS)


def test_of_every_subject_some_claims_are_wrong_and_some_are_true():
    true = [card for card in DECK if card.holds]
    assert {card.key for card in true} == {*TRUE, "saved-view-is-whole"}
    assert {card.subject for card in true} == set(SUBJECTS)
    assert {card.subject for card in DECK if not card.holds} == set(SUBJECTS)
    assert {card.level for card in true} == {1, 2, 3}


@pytest.mark.slow
@each_card
def test_a_card_gives_what_was_met_and_what_is_right_and_so_does_its_program(card, capsys):
    outcome = play(card)
    if card.key in EXPECTED:
        assert (outcome.wrong.text, outcome.right.text) == EXPECTED[card.key]
    else:
        for answer, (low, high) in zip(
            (outcome.wrong, outcome.right), BETWEEN[card.key], strict=True
        ):
            assert low - 0.01 <= answer.amount <= high + 0.01, (answer.text, low, high)
    message = outcome.right.message or outcome.wrong.message
    assert SAYS.get(card.key, "") in message
    assert bool(message) == (card.key in SAYS)

    torch.manual_seed(0)
    torch.storage._set_always_warn_typed_storage_removal(True)  # else once a process
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a program hears those that are its answer itself
        exec(program_of(card, outcome), {"__name__": "card"})  # noqa: S102  rows of our own tables
    torch.storage._set_always_warn_typed_storage_removal(False)
    lines = capsys.readouterr().out
    for answer in (outcome.wrong, outcome.right):
        assert answer.text.split()[0] in lines or answer.amount is not None, lines


@each_card
def test_the_words_of_a_card_can_hold_its_values_and_say_what_a_true_one_rests_on(card):
    for text in (card.claim, card.why):
        filled = text.format(wrong="<wrong>", right="<right>")
        assert "{" not in filled.replace("{wrong}", "")
    assert ("{right}" in card.claim) == card.holds, "a claim names what it claims"
    assert ("{wrong}" in card.claim) != card.holds
    assert not card.holds or "Source: " in card.why
    assert sorted(choices_of(card)) == ["other", "right", "wrong"]
    assert program_of(card, None).count("print(") in (1, 3)


def test_the_right_choice_stands_at_every_place():
    for holds in (False, True):
        places = {choices_of(card).index("right") for card in DECK if card.holds == holds}
        assert places == {0, 1, 2}


def test_a_card_whose_answers_read_the_same_is_refused():
    card = replace(BY_KEY["gib-called-gb"], other="7e9 * 4 / 1e9")
    with pytest.raises(ValueError, match=r"gib-called-gb: 26\.1 GB, 28\.0 GB and 28\.0 GB"):
        play(card)


def test_a_cell_gives_its_last_line_or_the_error_that_it_ended_with():
    (bits,) = struct.unpack("<I", struct.pack("<f", 1.0))
    code = "import struct\nstruct.unpack('<I', struct.pack('<f', 1.0))[0]"
    assert run_cell(code).amount == bits
    refused = run_cell("torch.ones(2, 3) @ torch.ones(2, 3)")
    assert (refused.text, refused.amount) == ("RuntimeError", None)
    assert "cannot be multiplied" in refused.message
