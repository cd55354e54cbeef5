"""The panel of chips: marks, headline, sources."""

import pytest

from core.dtypes import FORMATS
from core.dtypes.libraries.hardware import HARDWARE
from pages.dtypes.rounding_and_overflow.hardware import sentence


def test_the_chips_are_drawn_with_a_sentence_about_the_format(open_tab, texts):
    app = open_tab("torch", rounding_torch="hardware", rounding_format="float8_e4m3fn")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt.startswith(f"FP8 on {len(HARDWARE)} chips. matrix units: RTX 4090 (Ada)")
    assert "unknown: " in chart.proto.alt
    assert "CUDA Programming Guide" in texts(app)
    assert "nothing is guessed" in texts(app)


def test_a_format_without_a_chip_still_has_the_table(open_tab):
    app = open_tab("torch", rounding_torch="hardware", rounding_format="nf4")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt.startswith(f"{len(HARDWARE)} chips by 13 formats")
    # others do: AWS Trainium takes float8_e4m3, so that no word may be said about all chips
    assert sentence(FORMATS["float8_e4m3"]) == (
        f"float8_e4m3 has no column: none of these {len(HARDWARE)} chips is known to compute in it"
    )


@pytest.mark.parametrize(("name", "column"), [("bfloat16", "BF16"), ("float4_e2m1fn", "FP4")])
def test_the_headline_counts_chips_with_matrix_units(name, column):
    able = sum(chip.cells[column].status == "matrix" for chip in HARDWARE)
    said = sentence(FORMATS[name])
    assert said == f"{column}: {able} of {len(HARDWARE)} chips multiply it in matrix units"
