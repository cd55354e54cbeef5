"""Bit layouts through the frame: headlines, links, the designer, and what is refused."""

import pytest

from core.dtypes import FORMATS
from core.dtypes.libraries.library_records import InfoRow, LibraryReport
from tests.app.shown import captions, headline, texts

KEY = "dtypes/bit_layouts"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_opens_with_one_and_in_all_tabs_with_codes(open_page, name):
    for tab in ("grid", "codes"):
        app = open_page(KEY, bits_tab=tab, bits_format=name)
        assert f"`{name}`" in headline(app), tab


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("float8_e4m3fn", "0x7E", "0x7E = 448 · normal"),
        ("float8_e4m3fn", "0xff", "0xFF = NaN · not a number"),
        ("float8_e5m2", "0xFC", "0xFC = -∞ · infinity"),
        ("float16", "0x8000", "0x8000 = -0 · zero"),
        ("float16", "0x0001", "0x0001 = 5.96046447753…e-8 · subnormal"),
        ("float64", "0x7FEFFFFFFFFFFFFF", "= 1.7976931348623157081…e+308 · normal"),
        ("int8", "0x80", "0x80 = -128 · whole number"),
        ("nf4", "0x7", "0x7 = 0 · table entry"),
    ],
)
def test_a_link_opens_the_code_it_names(open_page, name, code, said):
    app = open_page(KEY, bits_format=name, bits_code=code)

    assert said in headline(app)
    assert not any("was not accepted" in text for text in texts(app))


@pytest.mark.parametrize("code", ["0x1FF", "-1", "pi", "0x", "1" * 20])
def test_a_link_with_no_code_of_the_format_is_named_and_shows_one(open_page, code):
    app = open_page(KEY, bits_format="float8_e4m3fn", bits_code=code)

    assert headline(app).startswith("`float8_e4m3fn` 0x38 = 1 · normal")
    assert any("`bits_code`" in text and "0x00 to 0xFF" in text for text in texts(app))


def test_another_format_takes_the_number_along(open_page):
    app = open_page(KEY, bits_format="float32", bits_code="0x40490FDB")

    app.selectbox(key="bits_format_choice").set_value("bfloat16").run()
    assert headline(app).startswith("`bfloat16` 0x4049 = 3.140625 · normal")
    assert not any("was not accepted" in text for text in texts(app))

    app.selectbox(key="bits_format_choice").set_value("int4").run()
    assert headline(app) == "`int4` 0x3 = 3 · whole number"


def test_the_number_stays_when_the_design_changes(open_page):
    app = open_page(KEY, bits_tab="designer", bits_dcode="0x4248")  # 3.140625 in E5M10

    app.slider(key="bits_man").set_value(3).run()
    assert app.session_state["bits_dcode"] == "0x085"  # 3.25 in E5M3
    app.slider(key="bits_exp").set_value(8).run()
    assert app.session_state["bits_dcode"] == "0x405"
    assert not any("was not accepted" in text for text in texts(app))


@pytest.mark.parametrize(
    ("name", "code", "shown"),
    [
        ("float16", "0x4248", "0x4000 = 2 · normal"),
        ("bfloat16", "0x7F80", "0x4000 = 2 · normal"),
        ("float64", "0x7FF8000000000000", "0x4000000000000000 = 2 · normal"),
        ("int8", "0x80", "0x02 = 2 · whole number"),
    ],
)
def test_a_slider_leads_through_the_numbers_of_a_format(open_page, name, code, shown):
    app = open_page(KEY, bits_format=name, bits_code=code)
    slider = app.select_slider(key="bits_code_slider")
    assert slider.value == code  # also where it is no stop, or no number
    assert "2" in slider.options
    slider.set_value(shown.partition(" ")[0]).run()
    assert shown in headline(app)


@pytest.mark.parametrize("value", ["", "pi", "1e99999", "0x"])
def test_what_is_no_number_becomes_a_sentence(open_page, value):
    app = open_page(KEY, bits_tab="side", bits_value=value)

    assert headline(app) == "Not a number yet"
    assert app.error[0].value


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"bits_exp": "15", "bits_man": "3"}, "`E15M3`, 19 bits: max 1.11537…e+4932"),
        ({"bits_exp": "0", "bits_man": "7", "bits_nans": "none", "bits_inf": "false"}, "max 1.984"),
        ({"bits_exp": "5", "bits_man": "10", "bits_sign": "false"}, "15 bits: max 65504"),
        ({"bits_exp": "8", "bits_man": "7", "bits_offset": "20"}, "`E8M7`, 16 bits: max 3.23"),
        ({"bits_sub": "false"}, "max 65504"),
    ],
)
def test_the_designer_builds_what_is_asked(open_page, query, said):
    app = open_page(KEY, bits_tab="designer", **query)

    assert said in headline(app)


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        (
            {"bits_format": "float8_e4m3fn", "bits_code": "0x7E"},
            ["01111110 = (-1)^0 × 2^(15 - 7) × (1 + 6/8) = 448.0\n"],
        ),
        ({"bits_code": "0x7C00"}, ["= inf"]),
        ({"bits_format": "float8_e8m0fnu", "bits_code": "0xFF"}, ["11111111 = nan\n"]),
        ({"bits_format": "float8_e5m2", "bits_code": "0xFC"}, ["11111100 = -inf\n"]),
        (
            {"bits_format": "float4_e2m1fn", "bits_code": "0x8"},
            ["1000 = (-1)^1 × 2^(1 - 1) × (0 + 0/2) = -0.0\n"],
        ),
        ({"bits_format": "nf4", "bits_code": "0x7"}, ["0111 = values[7] = 0.0\n"]),
        ({"bits_format": "int8", "bits_code": "0x80"}, ["10000000 = -128\n"]),
        ({"bits_tab": "side", "bits_value": "1e9"}, ["float16 inf", "float8_e4m3fn nan"]),
        ({"bits_tab": "side", "bits_value": "-0"}, ["-0.0"]),
        ({"bits_tab": "codes", "bits_format": "nf4"}, ["16 codes, 16 of them numbers"]),
    ],
)
def test_the_snippet_of_a_special_case_prints_its_headline(open_page, run_code, query, printed):
    said = run_code(open_page(KEY, **query))
    for number in printed:
        assert number in said, said


def test_finfo_waits_until_it_is_asked(open_page, monkeypatch):
    monkeypatch.setattr("pages.dtypes.bit_layouts.numbers.cached_library_report", lambda: None)
    asked = []
    monkeypatch.setattr("pages.dtypes.bit_layouts.numbers.asked_report", lambda: asked.append(1))
    app = open_page(KEY, bits_tab="numbers", bits_group="eight", bits_view="finfo")
    assert headline(app).endswith("`float8_e5m2fnuz` 0.25")
    assert asked == []

    app.button(key="bits_ask_finfo").click().run()

    assert asked == [1]


def test_a_number_of_finfo_that_is_wrong_stands_beside_the_right_one(open_page, monkeypatch):
    numbers = {"max": 57344.0, "smallest_normal": 2.0**-15, "eps": 0.125}
    infos = [
        InfoRow(dtype="float8_e5m2fnuz", quantity=name, value=value)
        for name, value in numbers.items()
    ]
    missing = "'torch.finfo' object has no attribute 'smallest_subnormal'"
    infos.append(
        InfoRow(dtype="float8_e5m2fnuz", quantity="smallest_subnormal", value=None, message=missing)
    )
    report = LibraryReport(
        torch="2.13.0",
        devices=("cpu",),
        operations=(),
        infos=tuple(infos),
    )
    monkeypatch.setattr("pages.dtypes.bit_layouts.numbers.cached_library_report", lambda: report)

    app = open_page(KEY, bits_tab="numbers", bits_group="eight", bits_view="finfo")

    assert headline(app).endswith("torch.finfo agrees in 2 of 3")
    (table,) = [text for text in texts(app) if "smallest_normal" in text and "|---|" in text]
    assert "57344 ✓" in table
    assert "0.25 **≠ torch 0.125**" in table
    assert "(torch: none)" in table
    assert any("1.0 is followed by 1.25" in text for text in texts(app))


def test_the_designer_names_the_twin_and_says_where_float64_ends(open_page):
    twin = open_page(KEY, bits_tab="designer", bits_exp="8", bits_man="7")
    assert any("`bfloat16`: the very same numbers" in text for text in texts(twin))

    wide = open_page(KEY, bits_tab="designer", bits_exp="15")
    assert any("beyond float64" in text for text in texts(wide))


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ({"bits_exp": "0", "bits_man": "3"}, "bits_exp"),
        ({"bits_exp": "1", "bits_man": "0"}, "bits_man"),
        ({"bits_exp": "15", "bits_man": "52"}, "bits_man"),
    ],
)
def test_a_link_to_a_design_that_makes_no_format_is_refused_by_name(open_page, query, refused):
    app = open_page(KEY, bits_tab="designer", **query)

    assert headline(app).startswith("`E")
    (said,) = [each for each in captions(app) if "was not accepted" in each]
    assert f"`{refused}`" in said


def test_widths_that_a_hidden_input_no_longer_allows_are_explained(open_page):
    free = {"bits_nans": "none", "bits_inf": "false", "bits_exp": "0", "bits_man": "3"}
    app = open_page(KEY, bits_tab="designer", hide="exp", **free)
    assert "`E0M3`" in headline(app)

    app.query_params.clear()
    app.session_state["bits_nans"] = "ieee"
    app.run()

    assert headline(app) == "These choices make no format"
    assert len(app.error) == 1


def test_a_rule_that_needs_codes_takes_them_from_the_widths(open_page):
    free = {"bits_nans": "none", "bits_inf": "false", "bits_exp": "0", "bits_man": "1"}
    app = open_page("dtypes/bit_layouts", bits_tab="designer", **free)
    assert "`E0M1`" in app.session_state["headline"]

    app.session_state["bits_nans"] = "ieee"
    app.run()

    assert app.slider(key="bits_exp").min == 1
    assert [error.value for error in app.error] == []
    assert "`E1M1`" in app.session_state["headline"]
