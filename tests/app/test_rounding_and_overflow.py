"""The page of casts through the frame: numbers, refusals, tabs, lamps, questions, no torch."""

import pytest

from tests.app.shown import headline, said

PAGE = "dtypes/rounding_and_overflow"


def lamps(app):
    html = " ".join(each.proto.body for each in app.get("html"))
    return html.split('aria-label="Lamps on: ')[1].split('"')[0]


def charts(app):
    return [each.proto for each in app.get("plotly_chart")]


@pytest.mark.parametrize(
    ("query", "shown", "lit"),
    [
        ({}, "65519.99 in float16 = 65504", "rounded"),
        ({"value": "65520"}, "65520 in float16 = inf", "overflow, tie, infinity"),
        ({"value": "1e-8"}, "1e-8 in float16 = 0", "underflow"),
        ({"value": "1e-8", "format": "bfloat16"}, "= 1.00117176771…e-8", "rounded"),
        ({"value": "257", "format": "bfloat16"}, "257 in bfloat16 = 256", "rounded, tie"),
        ({"value": "464", "format": "float8_e4m3fn"}, "= 448", "rounded, tie"),
        ({"value": "465", "format": "float8_e4m3fn"}, "= NaN", "overflow, not a number"),
        (
            {"value": "465", "format": "float8_e4m3fn", "overflow": "saturate"},
            "465 in float8_e4m3fn = 448",
            "overflow",
        ),
        ({"value": "2^-25"}, "2^-25 in float16 = 0", "underflow, tie"),
        ({"value": "0x1.004p-25"}, "= 5.96046447753…e-8", "rounded, subnormal"),
        ({"value": "nan", "format": "float4_e2m1fn"}, "= 0", "not a number"),
        ({"value": "2**-3", "format": "int8"}, "2\\*\\*-3 in int8 = 0", "underflow"),
    ],
)
def test_a_number_is_stored_and_the_lamps_say_how(open_page, query, shown, lit):
    app = open_page(PAGE, **{f"rounding_{name}": value for name, value in query.items()})
    assert headline(app).endswith(shown)
    assert lamps(app) == lit


def test_a_number_that_is_dragged_flips_at_halfway(open_page):
    app = open_page(PAGE)
    stops = app.select_slider(key="rounding_value_slider").options
    assert stops[::16] == ["65472", "65504", "65534", "65566"]  # one more stop: the number itself
    for number, stored in (("65518", "65504"), ("65520", "inf"), ("65488", "65472")):
        slider = app.select_slider(key="rounding_value_slider").set_value(number)
        slider.run()
        assert headline(app).endswith(f"{number} in float16 = {stored}")
        again = app.select_slider(key="rounding_value_slider")
        assert (again.value, set(again.options)) == (number, set(stops))


@pytest.mark.parametrize(
    "query",
    [
        {"rounding_tab": "formats"},
        {"rounding_tab": "line"},
        {"rounding_tab": "line", "rounding_view": "spacing"},
    ],
)
def test_where_sizes_are_compared_the_number_is_dragged_through_decades(open_page, query):
    app = open_page(PAGE, **query)
    app.select_slider(key="rounding_value_slider").set_value("1e-8").run()
    assert headline(app) == "1e-8 in float16 = 0"


@pytest.mark.parametrize("value", ["inf", "nan", "-0", "1e400"])
def test_what_has_no_neighbours_still_has_a_slider(open_page, value):
    app = open_page(PAGE, rounding_value=value)
    slider = app.select_slider(key="rounding_value_slider")
    assert slider.value in (value, "0")


def test_two_roundings_are_not_one(open_page):
    query = {"rounding_value": "0x1.0020000001p0"}
    once = open_page(PAGE, **query)
    assert headline(once) == "0x1.0020000001p0 in float16 = 1.0009765625"
    twice = open_page(PAGE, rounding_fp32="true", **query)
    assert headline(twice) == "0x1.0020000001p0 through float32 in float16 = 1"
    assert "it is 1.0009765625: the first rounding had moved it" in said(twice)


def test_a_text_that_is_no_number_becomes_a_sentence(open_page):
    app = open_page(PAGE)
    for text in ("abc", "", "1e99999", "1/0", "<b>", "0x"):
        app.text_input(key="rounding_value").set_value(text).run()
        assert not app.exception, text
        assert "99999" in headline(app) if "9" in text else "is not a number" in headline(app), text
        assert not charts(app), text
    app.text_input(key="rounding_value").set_value("![a](b)").run()
    assert headline(app).startswith("“\\!\\[a\\]\\(b\\)” is not a number")
    app.text_input(key="rounding_value").set_value("9" * 60).run()
    assert headline(app).endswith("= inf")


def test_the_seed_decides_a_stochastic_rounding(open_page):
    results = {
        headline(
            open_page(
                PAGE,
                rounding_value="0.3",
                rounding_format="float8_e4m3fn",
                rounding_mode="stochastic",
                rounding_seed=str(seed),
            )
        ).rpartition(" ")[2]
        for seed in range(6)
    }
    assert results == {"0.28125", "0.3125"}


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"value": "1/3", "format": "bfloat16", "fp32": "true"},
        {"value": "0.3", "format": "float8_e4m3fn", "mode": "stochastic", "seed": "5"},
        {"value": "−65520", "overflow": "saturate", "mode": "nearest_away"},
        {"value": "-2.5", "format": "int8", "mode": "up"},
        {"value": "0.3", "format": "nf4"},
        {"value": "65520.5", "mode": "toward_zero"},
        {"value": "0x1.8p-4", "mode": "down"},
    ],
)
def test_the_code_prints_the_headlines_number(open_page, query, run_code):
    app = open_page(PAGE, **{f"rounding_{name}": value for name, value in query.items()})
    printed = run_code(app).split()[0]
    stored = headline(app).rpartition(" ")[2].rstrip("…")
    assert float(printed) == pytest.approx(float(stored), rel=1e-9)


FREE = {"rounding_tab": "line", "rounding_view": "free"}


def test_the_window_of_the_number_line_is_moved_and_zoomed_by_sliders(open_page):
    app = open_page(PAGE, **FREE)
    assert "Numbers from 0.9375 to 1.0625, all marked: 193 in float16" in headline(app)
    app.select_slider(key="rounding_width_slider").set_value(-5).run()
    assert "from 0.984375 to 1.015625, all marked: 49 in float16, 7 in bfloat16" in headline(app)
    app.select_slider(key="rounding_center_slider").set_value("1.015625").run()
    assert "Numbers from 1 to 1.03125" in headline(app)
    assert app.text_input(key="rounding_center").value == "1.015625"
    app.select_slider(key="rounding_width_slider").set_value(
        -1
    ).run()  # the stops begin anew around the centre
    stops = app.select_slider(key="rounding_center_slider").options
    assert (stops[0], stops[64], stops[-1]) == ("-2.984375", "1.015625", "5.015625")


def test_a_window_that_cannot_be_is_changed_with_a_sentence(open_page):
    app = open_page(PAGE, **FREE, rounding_center="inf")
    assert "cannot stand at inf" in said(app)
    app = open_page(PAGE, **FREE, rounding_width="-150")
    assert "float64 ends at a width of 2⁻⁴⁸" in said(app)


@pytest.mark.parametrize("refused", [{}, {"rounding_center": "abc"}, {"rounding_value": "abc"}])
def test_the_range_of_the_width_is_said_whatever_else_is_refused(open_page, refused):
    app = open_page(PAGE, **FREE, rounding_width="9999", **refused)
    assert "`9999` was not accepted: allowed is a whole number from -1070 to 1022" in said(app)
    assert "no such setting" not in said(app)
    assert ("is not a number" in headline(app)) == bool(refused)


def test_a_window_that_is_first_opened_holds_the_number_and_an_old_link_its_own(open_page):
    app = open_page(PAGE, rounding_tab="line")
    app.selectbox(key="rounding_view_choice").set_value("free").run()
    assert "Numbers from 65264 to 65776" in headline(app)
    app.select_slider(key="rounding_width_slider").set_value(4).run()
    for view in ("log", "free"):
        app.selectbox(key="rounding_view_choice").set_value(view).run()
    assert "Numbers from 65512 to 65528" in headline(app)  # where the reader left it
    assert "Numbers from 0.9375 to 1.0625" in headline(open_page(PAGE, **FREE))
    app = open_page(PAGE, **FREE, rounding_center="3", rounding_width="0")
    assert "Numbers from 2.5 to 3.5" in headline(app)
