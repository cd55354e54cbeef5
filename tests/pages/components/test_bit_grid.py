"""What the bit grid sends to the browser: formats as data, and every word that its parts use."""

import json
import re
from pathlib import Path

import pytest

from core.dtypes import FORMATS, CodebookFormat
from pages.components.bit_grid import bit_grid
from pages.components.bit_grid.bit_grid import format_row, hex_code
from pages.components.bit_grid.words import WORDS
from pages.components.part import translated

FOLDER = Path(bit_grid.__file__).parent
SOURCE = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.*")))


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_travels_as_json_without_losing_a_number(name):
    fmt = FORMATS[name]
    row = json.loads(json.dumps(dict(format_row(fmt))))

    assert row["bits"] == fmt.bits
    if isinstance(fmt, CodebookFormat):
        assert tuple(row["values"]) == fmt.values
    # A browser reads numbers as float64.
    assert all(abs(value) <= 2**53 for value in row.values() if isinstance(value, int))


def test_every_word_that_the_browser_asks_for_is_there_in_both_languages():
    asked = set(re.findall(r"words\.(\w+)", SOURCE)) | set(re.findall(r'data-word="(\w+)"', SOURCE))
    words = translated(WORDS)

    assert asked <= set(words), asked - set(words)
    assert all(words.values())


def test_codes_have_as_many_digits_as_their_format_needs():
    written = [hex_code(FORMATS[name], 1) for name in ("float64", "tf32", "float6_e2m3fn", "nf4")]

    assert written == ["0x0000000000000001", "0x00001", "0x01", "0x1"]
