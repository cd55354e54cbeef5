"""Cards on FLOPs and seconds."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_PEAK: Final = 'peak = DEVICES["h100-sxm"].peak["bfloat16"]\n'
_SIZES: Final = "B, D, K = 16_384, 32_768, 8_192\n"
_WAITS: Final = """class Waits(TorchDispatchMode):
    count = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.count += operation is torch.ops.aten._local_scalar_dense.default
        return operation(*args, **(kwargs or {}))

losses = torch.rand(100)
with Waits() as waits:
"""
_SCORES: Final = """m, T = MODELS["{model}"], 4096
d = m.hidden_dim
scores = m.num_layers * 4 * T * d
"""

CARDS: Final = (
    Card(
        key="two-weeks",
        subject="compute",
        level=1,
        title=N_("Two weeks on eight H100"),
        claim=N_("A lecture computes what 8 H100 do in two weeks: {wrong}."),
        question=N_("How many FLOPs at the dense bf16 peak?"),
        wrong=_PEAK + "8 * 60 * 60 * 24 * 7 * peak",
        right=_PEAK + "8 * 60 * 60 * 24 * 14 * peak",
        other=_PEAK + "60 * 60 * 24 * 14 * peak",
        why_other=N_("That is one H100."),
        why=N_("Two weeks have 14 days, not 7: {right}."),
        written="{:.3e}",
        page="plan/flops_and_time",
        concepts=("C127",),
    ),
    Card(
        key="faster-than-the-peak",
        subject="compute",
        level=2,
        title=N_("A product of 4096 × 4096"),
        claim=N_(
            "A table says: a CPU multiplies two 4096 × 4096 matrices in 15 ms, an RTX 4090 in "
            "{wrong}, 300 times as fast."
        ),
        question=N_("What is the least time at the card's dense float16 peak?"),
        wrong="15e-3 / 300 * 1e6",
        right='2 * 4096**3 / DEVICES["rtx-4090"].peak["float16"] * 1e6',
        other='2 * 4096**3 / DEVICES["rtx-4090"].peak["float32"] * 1e6',
        why_other=N_("That is the time at the float32 peak."),
        why=N_(
            "2 · 4096³ FLOPs in {wrong} would be PFLOP/s, beyond every peak of this card. A clock "
            "reads so if it stops before the GPU has finished: `torch.cuda.synchronize()` waits."
        ),
        written="{:,.0f} µs",
        page="plan/flops_and_time",
        query=(("flops_tab", "mfu"), ("flops_measured", "matmul")),
        concepts=("C131",),
    ),
    Card(
        key="sparse-peak",
        subject="compute",
        level=2,
        title=N_("MFU of the sparse peak"),
        claim=N_("On an H100 a bf16 product reaches 500 TFLOP/s. A digest says: MFU {wrong}."),
        question=N_("What is the MFU?"),
        wrong=_PEAK + "100 * 500e12 / (2 * peak)",
        right=_PEAK + "100 * 500e12 / peak",
        other='100 * 500e12 / DEVICES["h100-sxm"].peak["float32"]',
        why_other=N_("That divides by the peak of float32; the product is in bf16."),
        why=N_(
            "The larger number of the data sheet holds for 2:4 sparse matrices. Dense products "
            "have half of it as their peak, so the MFU is {right}."
        ),
        written="{:.1f} %",
        page="plan/flops_and_time",
        concepts=("C130",),
    ),
    Card(
        key="item-waits",
        subject="compute",
        level=2,
        title=N_("A sum of loss.item()"),
        claim=N_(
            "A training loop adds up `loss.item()` in each of 100 steps. Its author expects the "
            "CPU to wait for the device {wrong} an epoch."
        ),
        question=N_("How often is a number read back from the device?"),
        wrong=_WAITS
        + "    total = torch.zeros(())\n    for loss in losses:\n        total += loss\n"
        "    total.item()\nwaits.count",
        right=_WAITS
        + "    total = 0.0\n    for loss in losses:\n        total += loss.item()\nwaits.count",
        other="0",
        why_other=N_("A Python number cannot be had without waiting for it."),
        why=N_(
            "Every `.item()` reads the value back, {right}. Add up the tensor and read it once: "
            "that is the second program."
        ),
        shows="right",
        written="{} ×",
        page="plan/flops_and_time",
        query=(("flops_tab", "mfu"), ("flops_measured", "matmul")),
        concepts=("C131",),
    ),
    Card(
        key="first-layer-is-cheaper",
        subject="compute",
        level=3,
        title=N_("Backward of two layers"),
        claim=N_(
            "A lecture says: the backward pass of x @ w1 @ w2 costs twice its forward pass, "
            "{wrong}."
        ),
        question=N_("x is data and needs no gradient. How many FLOPs does backward take?"),
        wrong=_SIZES + "2 * (2 * B * D * D + 2 * B * D * K)",
        right=_SIZES + "step = two_layer_flops(B, D, K, input_needs_gradient=False)\n"
        'step.child("backward").amount',
        other=_SIZES + "2 * B * D * D + 2 * B * D * K",
        why_other=N_("That is the forward pass."),
        why=N_(
            "w2 costs two products, w1 only one, for nobody asks for the gradient of x: {right}. "
            "In deep models the first layer hardly counts, and twice is right."
        ),
        written="{:.3e}",
        page="autograd/computation_graph",
        query=(("graph_of", "mlp"), ("graph_nodes", "true")),
        concepts=("C126",),
    ),
    Card(
        key="attention-is-a-small-share",
        subject="compute",
        level=3,
        title=N_("Share of the attention scores"),
        claim=N_(
            "A course says: with 4,096 tokens of context the attention scores are only {right} of "
            "the forward FLOPs of Llama-2 70B."
        ),
        question=N_("How large is their share, nothing masked?"),
        wrong=_SCORES.format(model="llama-2-70b")
        + "100 * scores / (scores + 8 * d * d * m.num_layers)",
        right=_SCORES.format(model="llama-2-70b") + "100 * scores / (scores + 2 * counts(m).total)",
        other=_SCORES.format(model="llama-2-7b") + "100 * scores / (scores + 2 * counts(m).total)",
        why_other=N_("That is Llama-2 7B: in narrower layers the scores weigh more."),
        why=N_(
            "The scores grow with T · d, the matrices with d²: {right} for d = 8,192. Against the "
            "four matrices of attention alone, without the feed-forward layers, it would be "
            "{wrong}. Source: Kaplan et al. 2020, table 1."
        ),
        holds=True,
        shows="right",
        written="{:.1f} %",
        page="plan/flops_and_time",
        query=(
            ("flops_tab", "components"),
            ("plan_model", "llama-2-70b"),
            ("plan_length", "4096"),
        ),
        concepts=("C135",),
    ),
)
