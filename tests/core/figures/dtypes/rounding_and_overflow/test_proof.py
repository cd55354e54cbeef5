"""The proof as marks: each comparison once, and a mismatch looks different."""

from dataclasses import replace

from core.dtypes import FORMATS
from core.dtypes.libraries.oracles import SPECIFICATION
from core.dtypes.libraries.proof import prove_back
from core.figures.dtypes.rounding_and_overflow.proof import comparison_words, proof_picture
from core.figures.picture import Look

BACK = prove_back(FORMATS["int4"])
DECODE = replace(BACK, direction="decode", oracle="ml_dtypes 0.6.0")
KNOWN = replace(
    BACK,
    format="float8_e8m0fnu",
    direction="encode",
    oracle="torch 2.13.0",
    represents=2**32,
    num_known=5,
    reasons=("negative numbers lose their sign; a format of scales has no code for them",),
)
BY_HAND = replace(KNOWN, oracle=SPECIFICATION, num_known=0, reasons=())
WRONG = replace(DECODE, format="uint4", num_mismatches=2, first_mismatch="1 -> 2, not 3")
ROWS = (BACK, DECODE, WRONG, BY_HAND, KNOWN)


def test_each_comparison_is_drawn_once_with_the_mark_of_its_kind_and_formats_keep_their_order():
    figure = proof_picture(ROWS, Look()).figure
    same, known, wrong = figure.data
    assert set(zip(same.x, same.y, strict=True)) == {
        ("int4", "decode, encode again"),
        ("int4", "decode: ml_dtypes, numpy"),
        ("float8_e8m0fnu", "encode: specification"),
    }
    assert list(zip(known.x, known.y, strict=True)) == [("float8_e8m0fnu", "encode: torch")]
    assert list(zip(wrong.x, wrong.y, strict=True)) == [("uint4", "decode: ml_dtypes, numpy")]
    assert len({trace.marker.symbol for trace in (same, known, wrong)}) == 3
    assert figure.layout.xaxis.categoryarray == ("int4", "uint4", "float8_e8m0fnu")


def test_words_say_how_much_was_tried_and_why_somebody_is_wrong():
    words = comparison_words(KNOWN)
    assert "16 tried, for 4,294,967,296; 0 mismatches" in words
    assert "5: negative numbers lose their sign" in words
    assert proof_picture(ROWS, Look()).alt == (
        "3 formats, 5 comparisons: 1 with mismatches, 1 with known library errors only."
    )
