"""Bytes of tokens in each dtype."""

from core.figures.picture import Look
from core.train.text.token_files import DTYPES, bytes_of_tokens
from pages.train.data_and_batches.files import files_picture


def test_a_bar_is_as_long_as_the_file():
    picture = files_picture([bytes_of_tokens(1024, name) for name in DTYPES], Look())
    assert picture.figure.data[0].x == (2048, 4096, 8192)
    assert picture.table["bytes"] == ["2,048", "4,096", "8,192"]
    assert "int32 4.10 kB" in picture.alt
