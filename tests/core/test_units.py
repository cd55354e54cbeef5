import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language import install_provider
from core.units import (
    GIB,
    KIB,
    MIB,
    format_bytes,
    format_count,
    format_exact,
    format_flops,
    format_flops_per_second,
    format_percent,
    format_rate,
    format_seconds,
    unbroken,
)

BYTES_PER = {
    "B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": 1 << 40, "PiB": 1 << 50,
    "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
}  # fmt: skip


@given(st.integers(0, 10**17), st.sampled_from(["GiB", "GB"]))
def test_a_byte_text_read_back_is_within_its_three_digits(num_bytes, unit):
    number, name = format_bytes(num_bytes, unit).split()
    assert abs(float(number.replace(",", "")) * BYTES_PER[name] - num_bytes) <= num_bytes * 0.0051


@given(st.integers(0, 10**17))
def test_binary_and_decimal_units_are_never_mixed(num_bytes):
    assert "i" in format_bytes(num_bytes, "GiB") or num_bytes < 1024
    assert "i" not in format_bytes(num_bytes, "GB")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_bytes(0), "0 B"),
        (format_bytes(1023), "1,023 B"),
        (format_bytes(1024), "1.00 KiB"),
        (format_bytes(1024**2 - 1), "1.00 MiB"),
        (format_bytes(999_999, "GB"), "1.00 MB"),
        (format_bytes(80 * GIB), "80.0 GiB"),
        (format_bytes(-5 * MIB), "-5.00 MiB"),
        (format_exact(1_000_000), "1,000,000"),
        (format_count(0), "0"),
        (format_count(999.9), "1.00 k"),
        (format_count(109_312), "109 k"),
        (format_count(1.5e12), "1.50 T"),
        (format_flops(6e23), "600 ZFLOPs"),
        (format_flops_per_second(989.4e12), "989 TFLOP/s"),
        (format_rate(20_400, "tokens"), "20.4 k tokens/s"),
        (format_percent(1.0), "100 %"),
    ],
)
def test_known_numbers_read_as_people_write_them(text, expected):
    assert text == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0.00 s"),
        (1.49e-8, "14.9 ns"),
        (2e-6, "2.00 µs"),
        (0.9996e-3, "1.00 ms"),
        (0.0115, "11.5 ms"),
        (0.9999, "1.00 s"),
        (59.96, "1 min 00 s"),
        (60, "1 min 00 s"),
        (3599.6, "1 h 00 min"),
        (90_000, "25 h 00 min"),
        (-1.5, "-1.50 s"),
    ],
)
def test_durations_show_the_two_units_that_matter(seconds, expected):
    assert format_seconds(seconds) == expected


@pytest.mark.parametrize(
    ("write", "amount", "expected"),
    [
        (format_percent, 0.254, "25.4%"),
        (format_seconds, 60, "1 分 00 秒"),
        (format_seconds, 3900, "1 小时 05 分"),
        (format_seconds, 1_209_600, "14 天 00 小时"),
        (format_seconds, 0.0115, "11.5 ms"),
    ],
)
def test_chinese_has_its_own_words_for_durations_and_no_blank_before_percent(
    write, amount, expected
):
    install_provider(lambda: "zh")
    try:
        assert write(amount) == expected
    finally:
        install_provider(None)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (format_bytes(182 * GIB), True),
        (format_bytes(3e9, "GB"), True),
        (format_flops_per_second(7.5e10), True),
        (format_flops(3.66e9), True),
        (format_count(804_096), True),
        (format_seconds(0.0123), True),
        (format_percent(0.254), True),
        ("2 devices", False),
        ("layer 3 Bias", False),
    ],
)
def test_no_line_ends_between_a_number_and_its_unit(text, kept):
    for sentence in (f"so {text} of it", f"每卡 {text}的显存"):
        whole = sentence.replace(text, text.replace(" ", "\N{NO-BREAK SPACE}"))
        assert unbroken(sentence) == (whole if kept else sentence)


def test_no_line_ends_within_a_duration_of_either_language():
    for language, text in (("en", "3\xa0min 20\xa0s"), ("zh", "3\xa0分 20\xa0秒")):
        install_provider(lambda language=language: language)
        written = unbroken(format_seconds(200))
        install_provider(None)
        assert written == text
