"""Cards on number formats."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_CODES: Final = (
    "numbers = torch.arange(128, dtype=torch.uint8).view(torch.float8_e5m2fnuz).float()\n"
)

CARDS: Final = (
    Card(
        key="bits-are-not-digits",
        subject="numbers",
        level=1,
        title=N_("Significant digits of bfloat16"),
        claim=N_("A tutorial says: bfloat16 keeps about {wrong} significant decimal digits."),
        question=N_("How many decimal digits does bfloat16 keep?"),
        wrong="round(1 - math.log2(torch.finfo(torch.bfloat16).eps))",
        right="(1 - math.log2(torch.finfo(torch.bfloat16).eps)) * math.log10(2)",
        other="(1 - math.log2(torch.finfo(torch.float16).eps)) * math.log10(2)",
        why_other=N_("That is float16, which has three more bits of mantissa."),
        why=N_(
            "bfloat16 has 8 significant bits, the hidden one counted. A bit is worth log10(2) = "
            "0.301 of a decimal digit: {right} digits."
        ),
        written="{:.2g}",
        page="dtypes/bit_layouts",
        query=(("bits_tab", "numbers"), ("bits_group", "training")),
        concepts=("C11",),
    ),
    Card(
        key="eps-of-bfloat16",
        subject="numbers",
        level=2,
        title=N_("Machine epsilon of bfloat16"),
        claim=N_(
            "A table lists machine epsilon: float32 1.19e-07, float16 9.77e-04, bfloat16 {wrong}."
        ),
        question=N_("How large is eps of bfloat16?"),
        wrong="torch.finfo(torch.bfloat16).eps / 2",
        right="torch.finfo(torch.bfloat16).eps",
        other="torch.finfo(torch.float16).eps",
        why_other=N_("That is eps of float16."),
        why=N_(
            "eps is the gap from 1 to the next number: 2⁻⁷ with 7 stored bits of mantissa. Half of "
            "it is the unit round-off; the other two entries of the table are not halved."
        ),
        written="{:.2e}",
        page="dtypes/bit_layouts",
        query=(("bits_tab", "numbers"), ("bits_group", "training")),
        concepts=("C11",),
    ),
    Card(
        key="fp16-underflow",
        subject="numbers",
        level=2,
        title=N_("Where float16 becomes zero"),
        claim=N_("A handbook says: in float16 every gradient below {wrong} becomes zero."),
        question=N_("Which is the largest power of two that float16 turns into zero?"),
        wrong="torch.finfo(torch.float16).smallest_normal",
        right="max(2.0**-k for k in range(10, 40) if torch.tensor(2.0**-k).half() == 0)",
        other="torch.finfo(torch.float16).eps",
        why_other=N_("That is the gap above 1; far smaller numbers are kept."),
        why=N_(
            "{wrong} is the smallest normal number. Below it float16 still has subnormal numbers, "
            "down to 2⁻²⁴; only {right}, half of that, and less become zero."
        ),
        written="{:.2e}",
        page="dtypes/rounding_and_overflow",
        query=(("rounding_value", "2^-25"), ("rounding_format", "float16")),
        concepts=("C10",),
    ),
    Card(
        key="scaler-for-bfloat16",
        subject="numbers",
        level=2,
        title=N_("GradScaler with bfloat16"),
        claim=N_(
            "A training script wraps bf16 autocast in a GradScaler: without it a gradient of 1e-8 "
            "would be {wrong}."
        ),
        question=N_("What becomes of 1e-8 in bfloat16, without a scale?"),
        wrong="torch.tensor(1e-8).to(torch.float16).item()",
        right="torch.tensor(1e-8).to(torch.bfloat16).item()",
        other="torch.finfo(torch.bfloat16).smallest_normal",
        why_other=N_("That is the smallest normal number, far below 1e-8."),
        why=N_(
            "The claim is true of float16. bfloat16 has the exponents of float32 and keeps "
            "{right}; its autocast needs no GradScaler."
        ),
        shows="right",
        written="{:.3g}",
        page="dtypes/rounding_and_overflow",
        query=(("rounding_value", "1e-8"), ("rounding_format", "bfloat16")),
        concepts=("C18",),
    ),
    Card(
        key="eps-of-e5m2fnuz",
        subject="numbers",
        level=3,
        title=N_("finfo of float8_e5m2fnuz"),
        claim=N_(
            "torch.finfo says: the gap between 1 and the next larger float8_e5m2fnuz is {wrong}."
        ),
        question=N_("How large is that gap among the numbers that torch itself decodes?"),
        wrong="torch.finfo(torch.float8_e5m2fnuz).eps",
        right=_CODES + "(numbers[numbers > 1].min() - 1).item()",
        other=_CODES + "(numbers[numbers > 2].min() - 2).item()",
        why_other=N_("That is the gap above 2."),
        why=N_(
            "Two stored bits of mantissa make four steps from 1 to 2, {right} each. What finfo "
            "prints is the gap below 1."
        ),
        page="dtypes/bit_layouts",
        query=(("bits_tab", "numbers"), ("bits_group", "eight"), ("bits_view", "finfo")),
        concepts=("C12",),
    ),
    Card(
        key="tenths-add-up",
        subject="numbers",
        level=1,
        title=N_("0.1 + 0.2 in float32"),
        claim=N_("A forum says: in float32, 0.1 + 0.2 == 0.3 is {right}."),
        wrong="0.1 + 0.2 == 0.3  # Python's float64",
        right="(torch.tensor(0.1) + torch.tensor(0.2) == torch.tensor(0.3)).item()",
        other='"RuntimeError"',
        why_other=N_("Comparing numbers of one dtype is always possible."),
        why=N_(
            "In float32 the rounded sum is the number nearest to 0.3. In float64, as in Python, it "
            "is the next one, so the comparison is {wrong}. Source: IEEE 754, both operations "
            "rounded to nearest."
        ),
        holds=True,
        shows="right",
        page="dtypes/bit_layouts",
        query=(("bits_tab", "side"), ("bits_value", "0.1"), ("bits_group", "training")),
        concepts=("C7",),
    ),
    Card(
        key="no-257-in-bfloat16",
        subject="numbers",
        level=1,
        title=N_("One more than 256"),
        claim=N_("A course says: in bfloat16, 256 + 1 is {right}."),
        wrong="(torch.tensor(256.0, dtype=torch.float16) + 1).item()",
        right="(torch.tensor(256.0, dtype=torch.bfloat16) + 1).item()",
        other="(torch.tensor(256.0, dtype=torch.bfloat16) + 2).item()",
        why_other=N_("That is the next number, but 257 is no nearer to it, and ties go to even."),
        why=N_(
            "With 8 significant bits the numbers above 256 are 2 apart; 257 is halfway and is "
            "rounded to the even one: {right}. float16 has three more bits and counts on to "
            "{wrong}. Source: IEEE 754, ties to even."
        ),
        holds=True,
        shows="right",
        written="{:g}",
        page="dtypes/low_precision_training",
        query=(("lowp_tab", "sums"), ("lowp_sum_format", "bfloat16"), ("lowp_sum_term", "1")),
        concepts=("C15",),
    ),
)
