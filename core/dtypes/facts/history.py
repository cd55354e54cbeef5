"""When the formats appeared, and who wrote them down."""

from dataclasses import dataclass
from typing import Final

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Milestone:
    """One entry of the history.

    Attributes:
        year: When it happened.
        who: Who published it, or under which name: no word to translate.
        formats: The formats by name.
        event: Message id that says what happened.
        source: Where it is written down.
    """

    year: int
    who: str
    formats: tuple[str, ...]
    event: str
    source: str

    @property
    def title(self) -> str:
        """The formats in one line."""
        return ", ".join(self.formats)


MILESTONES: Final = (
    Milestone(
        year=1985,
        who="IEEE 754",
        formats=("float64", "float32"),
        event=N_("IEEE 754 defines single and double precision, infinities, NaN and subnormals."),
        source="IEEE 754-1985",
    ),
    Milestone(
        year=2008,
        who="IEEE 754",
        formats=("float16",),
        event=N_("IEEE 754 is revised and adds the 16-bit format of graphics cards."),
        source="IEEE 754-2008, clause 3.6",
    ),
    Milestone(
        year=2018,
        who="Google",
        formats=("bfloat16",),
        event=N_("Google Brain's format for TPUs: the upper half of float32."),
        source="Intel BFLOAT16 Hardware Numerics Definition, 2018",
    ),
    Milestone(
        year=2020,
        who="A100",
        formats=("tf32",),
        event=N_("NVIDIA's A100 multiplies float32 with 10 mantissa bits."),
        source="NVIDIA A100 whitepaper, 2020",
    ),
    Milestone(
        year=2022,
        who="FP8",
        formats=("float8_e4m3fn", "float8_e5m2"),
        event=N_("NVIDIA, Arm and Intel propose two 8-bit formats: a paper, not yet a standard."),
        source="Micikevicius et al. 2022, arXiv 2209.05433",
    ),
    Milestone(
        year=2022,
        who="FNUZ",
        formats=("float8_e4m3fnuz", "float8_e5m2fnuz"),
        event=N_("Graphcore and AMD propose 8-bit formats with one zero and one NaN."),
        source="Noune et al. 2022, arXiv 2206.02915",
    ),
    Milestone(
        year=2023,
        who="QLoRA",
        formats=("nf4",),
        event=N_("QLoRA stores weights as quantiles of the normal distribution."),
        source="Dettmers et al. 2023, arXiv 2305.14314",
    ),
    Milestone(
        year=2023,
        who="OCP OFP8",
        formats=("float8_e4m3fn", "float8_e5m2"),
        event=N_("The Open Compute Project makes the 8-bit formats a standard (OFP8, June)."),
        source="OCP 8-bit Floating Point Specification v1.0, 2023-06-20",
    ),
    Milestone(
        year=2023,
        who="OCP MX",
        formats=("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "float8_e8m0fnu"),
        event=N_("Microscaling (MX): blocks of 32 small numbers share one power of two."),
        source="OCP Microscaling Formats v1.0, 2023-09",
    ),
    Milestone(
        year=2025,
        who="NVFP4",
        formats=("float4_e2m1fn",),
        event=N_("NVFP4: blocks of 16 four-bit numbers share a scale in E4M3; models train in it."),
        source="NVIDIA 2025, Pretraining Large Language Models with NVFP4, arXiv 2509.25149",
    ),
)
