"""The QR code: its bits say the address, whatever draws them."""

import re
import urllib.parse

import pytest
import segno

from pages.server.qr import MAX_CHARS, qr_path, qr_picture, qr_terminal

ADDRESS = "http://192.168.1.34:8501"
HALF_BLOCKS = {" ": (1, 1), "▀": (0, 1), "▄": (1, 0), "█": (0, 0)}  # dark modules are left empty


def test_the_terminal_s_half_blocks_are_the_modules_of_the_standard():
    rows = []
    for line in qr_terminal(ADDRESS).splitlines():
        halves = [HALF_BLOCKS[mark] for mark in line]
        rows += [[half[0] for half in halves], [half[1] for half in halves]]
    size = len(segno.make_qr(ADDRESS, error="m", boost_error=False).matrix)
    inner = [row[2 : 2 + size] for row in rows[2 : 2 + size]]
    assert inner == [
        list(row) for row in segno.make_qr(ADDRESS, error="m", boost_error=False).matrix
    ]


def test_the_picture_is_dark_on_white_and_holds_no_text_of_ours():
    picture = qr_picture("http://1.2.3.4/?x=<script>")
    assert picture.startswith("data:image/svg+xml")
    svg = urllib.parse.unquote(picture)
    assert "#fff" in svg
    assert "#000" in svg
    assert "script" not in svg


def test_the_path_covers_the_dark_modules_inside_a_quiet_border():
    path, size = qr_path(ADDRESS)
    matrix = segno.make_qr(ADDRESS, error="m", boost_error=False).matrix
    assert size == len(matrix) + 8
    drawn = set()
    for x, y, length, back in re.findall(r"M(\d+) (\d+)h(\d+)v1H(\d+)z", path):
        assert x == back
        drawn |= {(int(x) + step, int(y)) for step in range(int(length))}
    dark = {(x + 4, y + 4) for y, row in enumerate(matrix) for x, one in enumerate(row) if one}
    assert drawn == dark


def test_a_link_too_long_for_a_phone_is_refused():
    qr_picture("x" * MAX_CHARS)
    with pytest.raises(ValueError, match=f"an address of {MAX_CHARS + 1} characters is over"):
        qr_picture("x" * (MAX_CHARS + 1))
