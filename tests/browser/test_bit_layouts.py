"""The bit grid in a real browser: its codec against Python's, clicks, keys, drag, links."""

import json
import math
import re
import struct
from fractions import Fraction

import numpy as np
import pytest

from core.dtypes import FORMATS, FloatFormat, float_format
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import exact_decimal, hex_float, parse_value
from core.dtypes.facts.explain import explain_code
from core.dtypes.facts.format_facts import written_value
from core.dtypes.facts.number_line import num_finite, number_at, place_of
from pages.components.bit_grid.bit_grid import format_row

CODEC = "window[Symbol.for('bits-to-gpt.codec')]"
GRID = ".st-key-bits_grid"
NUM_RANDOM = 4000
# Numbers pass as the hexadecimal digits of their float64, for JSON knows neither -0 nor infinity,
# and all in one text, for lists of 100,000 entries take Playwright half a minute.
COMPARE = f"""([row, codes, values]) => {{
  const {{ decode, encode }} = {CODEC};
  const view = new DataView(new ArrayBuffer(8));
  const write = (value) => (view.setFloat64(0, value), view.getBigUint64(0).toString(16));
  const read = (digits) => (view.setBigUint64(0, BigInt("0x" + digits)), view.getFloat64(0));
  const name = (value) => (Number.isNaN(value) ? "nan" : write(value));
  return [codes.split(" ").map((code) => name(decode(row, BigInt(code)))).join(" "),
          values.split(" ").map((value) => encode(row, read(value))).join(" ")];
}}"""
EXPLAIN = f"""([row, codes]) => {{
  const {{ explain, exactDecimal, formulaText, hexFloat, reduced, numFinite }} = {CODEC};
  const text = (value) => (value === null ? null : String(value));
  return codes.map((code) => {{
    const told = explain(row, BigInt(code));
    const known = !told.exact.special;
    return [told.kind, formulaText(told.formula), text(told.sign), text(told.exponent),
      text(told.mantissa), text(told.place), text(told.below), text(told.above),
      known ? exactDecimal(told.exact).text : "", known ? hexFloat(reduced(told.exact)) : "",
      told.ulp && exactDecimal(told.ulp).text, String(numFinite(row))];
  }});
}}"""
STORE = f"""([row, texts]) => texts.map((text) => {{
  const {{ readNumber, encodeExact }} = {CODEC};
  const number = readNumber(text);
  return number && String(encodeExact(row, number));
}})"""
# A click as a screen reader makes it, and the time until the new value stands on the page.
CLICK = """(place) => {
  const host = document.querySelector(".st-key-bits_grid [data-testid=stBidiComponentIsolated]")
    ?? document.querySelector(".st-key-bits_grid");
  const root = [host, ...host.querySelectorAll("*")].find((node) => node.shadowRoot).shadowRoot;
  const bit = root.querySelector(`[data-place="${place}"]`);
  const value = root.querySelector(".value");
  const before = value.textContent;
  const start = performance.now();
  bit.click();
  value.getBoundingClientRect(); // laid out
  return [performance.now() - start, before, value.textContent];
}"""


def magnitude_share(fmt, code):
    """0 for the smallest numbers and 1 for the largest: by powers of two, or by size."""
    if isinstance(fmt, FloatFormat):
        top = fmt.max_code >> fmt.mantissa_bits
        return min(((code & (2**fmt.magnitude_bits - 1)) >> fmt.mantissa_bits) / top, 1.0)
    return abs(float(fmt.decode([code])[0])) / max(abs(fmt.max), abs(fmt.min))


@pytest.fixture
def open_bits(new_page, visit):
    """Return open_bits(lang=..., **query): the page with its grid ready."""

    def go(lang="en", **query):
        page = visit(new_page(lang=lang), "/bit-layouts", **query)
        page.locator(".bit").first.wait_for()
        return page

    return go


def value(page):
    return page.locator(".value").inner_text()


def bit(page, place):
    return page.locator(f'.bit[data-place="{place}"]')


def digits_of(numbers):
    return [struct.pack(">d", number).hex() for number in numbers]


def name_of(number):
    return "nan" if math.isnan(number) else f"{int(struct.pack('>d', number).hex(), 16):x}"


def samples(fmt, rng):
    """Return codes and numbers to compare: all codes up to 16 bits, else random ones."""
    if fmt.bits <= 16:
        codes = np.arange(fmt.num_codes, dtype=np.uint64)
    else:
        codes = rng.integers(0, fmt.num_codes - 1, NUM_RANDOM, dtype=np.uint64, endpoint=True)
        codes = np.append(codes, np.array([0, 1, fmt.num_codes - 1], dtype=np.uint64))
    decoded = fmt.decode(codes)
    finite = np.unique(decoded[np.isfinite(decoded)])
    ties = finite[1:] / 2 + finite[:-1] / 2
    random = rng.standard_normal(NUM_RANDOM) * 10.0 ** rng.integers(-12, 12, NUM_RANDOM)
    specials = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e300, -1e300]
    # NaN once: a browser does not carry the sign of one.
    ties = ties[:: max(ties.size // NUM_RANDOM, 1)]
    values = np.concatenate([decoded[~np.isnan(decoded)], ties, random, specials])
    return codes, decoded, values


@pytest.mark.slow
def test_the_browsers_codec_is_pythons(open_bits):
    """Decode and encode: all codes of all formats up to 16 bits, random ones of 19, 32, 64 bits."""
    page = open_bits()
    rng = np.random.default_rng(0)
    designed = [
        float_format("fixed", 0, 7, infinity=False, num_nans=0),
        float_format("flushed", 4, 3, subnormals=False),
        float_format("unsigned", 5, 3, signed=False),
        float_format("wide", 15, 3),
    ]
    for fmt in (*FORMATS.values(), *designed):
        codes, decoded, values = samples(fmt, rng)
        encoded = [str(code) for code in fmt.encode(values).tolist()]
        texts = [" ".join(map(str, codes.tolist())), " ".join(digits_of(values.tolist()))]
        answer = page.evaluate(COMPARE, [dict(format_row(fmt)), *texts])
        seen = [text.split(" ") for text in answer]
        names = [name_of(number) for number in decoded.tolist()]
        wrong = [
            each for each in zip(codes.tolist(), names, seen[0], strict=True) if each[1] != each[2]
        ]
        assert wrong == [], fmt.name
        wrong = [
            each
            for each in zip(values.tolist(), encoded, seen[1], strict=True)
            if each[1] != each[2]
        ]
        assert wrong == [], fmt.name


def told_in_python(fmt, code):
    """Return what explain says, but for the formula; numbers as texts."""
    told, known = explain_code(fmt, code), fmt.exact(code)
    place, beside = None, [None, None]
    if isinstance(known, Fraction):
        place = place_of(fmt, code)
        beside = [number_at(fmt, place - 1), number_at(fmt, place + 1)]
    elif known == "inf":
        last = num_finite(fmt) - 1
        beside = (
            [None, number_at(fmt, 0)] if fmt.is_negative(code) else [number_at(fmt, last), None]
        )
    fields = [told.sign, told.exponent, told.mantissa, place, *(e and e.code for e in beside)]
    texts = [None if each is None else str(each) for each in fields]
    if told.exact is None:
        return [told.kind, *texts, "", "", None, str(num_finite(fmt))]
    away = beside[1] or beside[0] if told.exact >= 0 else beside[0] or beside[1]
    ulp = exact_decimal(abs(away.exact - told.exact))[0]
    written = [exact_decimal(told.exact)[0], hex_float(told.exact)]
    return [told.kind, *texts, *written, ulp, str(num_finite(fmt))]


def worth(formula, fmt):
    """Return the number that a formula on the page gives."""
    rule = formula.replace("×", "*").replace("^", "**").replace("2**", "2.0**")
    return eval(rule, {"values": getattr(fmt, "values", None)})  # noqa: S307  our own text


def test_the_browser_explains_a_code_as_python_does(open_bits):
    page = open_bits()
    rng = np.random.default_rng(1)
    for fmt in (*FORMATS.values(), float_format("wide", 15, 3)):
        top = fmt.num_codes - 1
        random = rng.integers(0, top, 60, dtype=np.uint64, endpoint=True).tolist()
        codes = sorted({0, 1, top, top // 2, top // 2 + 1, *random})
        seen = page.evaluate(EXPLAIN, [dict(format_row(fmt)), [str(code) for code in codes]])
        for code, (kind, formula, *told) in zip(codes, seen, strict=True):
            assert [kind, *told] == told_in_python(fmt, code), (fmt.name, code)
            if formula and fmt.bits <= 16:
                assert worth(formula, fmt) == fmt.decode([code])[0], (fmt.name, code)


def test_a_typed_number_is_rounded_once_from_its_text_as_in_python(open_bits):
    page = open_bits()
    texts = ["0.1", "1/3", "-2^-25", "1e-8", "65519.99", "65520", "0x1.8p3", "inf", "-inf", "nan"]
    # Half an ULP above 1 and a hair: float64 in between would make it a tie and round down.
    texts += ["-0", ".5", "1.00048828125000000000000001", "464", "465", "2**(-3)", " 1_000 "]
    for name in ("float16", "bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int8", "nf4", "float64"):
        seen = page.evaluate(STORE, [dict(format_row(FORMATS[name])), texts])
        expected = [str(explain_cast(FORMATS[name], text).code) for text in texts]
        assert seen == expected, name

    for text in ("", "pi", "1/0", "1e99999", "1e20001", "0^2", "1//2", "5e", "9999^20000", "+-inf"):
        with pytest.raises(ValueError, match=r"number|exponent|power"):
            parse_value(text)
        assert page.evaluate(STORE, [dict(format_row(FORMATS["int8"])), [text]]) == [None], text


def test_a_click_shows_the_new_value_without_asking_the_server(open_bits, root):
    page = open_bits()
    messages = []
    page.context.set_offline(True)
    page.on("request", lambda request: messages.append(request.url))

    timings = []
    for place in (15, 9, 0, 12, 3, 15, 9, 0, 12, 3):
        milliseconds, before, after = page.evaluate(CLICK, place)
        timings.append(milliseconds)
        assert before != after

    report = {"median_ms": sorted(timings)[len(timings) // 2], "longest_ms": max(timings)}
    (root / "build").mkdir(exist_ok=True)
    (root / "build" / "bit-click.json").write_text(json.dumps(report), encoding="utf-8")
    assert messages == []
    assert value(page) == "1"
    page.watch.problems.clear()  # the server was unplugged on purpose


def test_a_click_reaches_python_the_address_and_the_headline(open_bits):
    page = open_bits()

    bit(page, 15).click()

    page.until("location.search.includes('bits_code=0xBC00')")
    page.get_by_text("0xBC00 = -1 · normal").wait_for()
    assert value(page) == "-1"
    assert bit(page, 15).get_attribute("aria-pressed") == "true"


def test_clicks_that_come_faster_than_python_answers_all_count(open_bits):
    page = open_bits()

    for place in range(16):
        bit(page, place).click(delay=0)
        page.wait_for_timeout(60)

    assert page.locator('.bit[aria-pressed="true"]').count() == 12
    page.get_by_text("float16 0xC3FF = -3.998046875").wait_for()
    assert value(page) == written_value(FORMATS["float16"], 0xC3FF)


def test_every_bit_can_be_reached_and_flipped_with_the_keyboard(open_bits):
    page = open_bits()
    bit(page, 15).focus()

    page.keyboard.press("Space")
    assert value(page) == "-1"
    page.keyboard.press("Enter")
    assert value(page) == "1"
    page.keyboard.press("End")
    page.keyboard.press("1")
    assert value(page) == "1.0009765625"
    page.keyboard.press("ArrowDown")
    assert value(page) == "1"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert value(page) == "1.001953125"
    page.keyboard.press("Home")
    focused = page.evaluate(
        "() => { let at = document.activeElement;"
        " while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;"
        " return at.dataset.place; }"
    )
    assert focused == "15"
    assert bit(page, 15).get_attribute("aria-label") == "bit 15, sign"


def test_a_drag_paints_the_bits_that_it_passes(open_bits):
    page = open_bits()
    bit(page, 9).hover()
    start, end = (bit(page, place).bounding_box() for place in (9, 0))
    page.mouse.move(start["x"] + 5, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 20, steps=30)
    page.mouse.up()

    assert page.locator('.bit[data-field="mantissa"][aria-pressed="true"]').count() == 10
    page.get_by_text("0x3FFF = 1.9990234375").wait_for()


def test_a_step_from_infinity_leads_to_the_largest_number(open_bits):
    for code, step, other, expected in (
        ("0x7C00", "below", "above", "65504"),
        ("0xFC00", "above", "below", "-65504"),
    ):
        page = open_bits(bits_format="float16", bits_code=code)
        assert page.locator(f"[data-step={other}]").is_disabled()
        page.locator(f"[data-step={step}]").click()
        assert value(page) == expected


def test_the_buttons_lead_to_neighbours_and_ends(open_bits):
    page = open_bits(bits_format="float8_e4m3fn", bits_code="0x7E")

    assert page.locator("[data-step=above]").is_disabled()
    page.locator("[data-step=below]").click()
    assert value(page) == "416"
    for name, expected in (
        ("max", "448"),
        ("min_subnormal", "0.001953125"),
        ("negate", "-0.001953125"),
        ("zero", "0"),
        ("one", "1"),
        ("nan", "NaN"),
    ):
        page.locator(f"[data-preset={name}]").click()
        assert value(page) == expected, name
    assert page.locator("[data-preset=infinity]").is_hidden()


def test_a_number_or_a_code_can_be_typed_and_nonsense_is_explained(open_bits):
    page = open_bits()
    field = page.get_by_label("Number or code")
    for text, shown, said in (
        ("0.1", "0.0999755859375", "the error is 0.00002441"),
        ("0x3C00", "1", "0x3C00 is stored as 1."),
        ("1/4", "0.25", "stored exactly"),
        ("pi", "0.25", "is not read"),
        ("0x10000", "0.25", "from 0x0 to 0xFFFF"),
        ("0b11110000000000", "1", "0b11110000000000 is stored as 1."),
        ("１．５", "1.5", "stored exactly"),
        ("1e-999999999", "1.5", "is not read"),
    ):
        field.fill(text)
        field.press("Enter")
        assert value(page) == shown, text
        assert said in page.locator(".said").inner_text(), text


def test_a_link_reproduces_the_number_and_another_format_takes_it_along(open_bits):
    page = open_bits(bits_format="float32", bits_code="0x40490FDB")
    assert value(page) == "3.14159274101…"
    assert page.locator(".bit").count() == 32

    page.get_by_role("combobox", name="Format").click()
    page.get_by_role("option", name="bfloat16", exact=True).click()

    page.get_by_text("0x4049 = 3.140625").wait_for()
    page.until("document.location.search.includes('bits_code=0x4049')")
    assert page.locator(".bit").count() == 16
    assert value(page) == "3.140625"
    assert page.get_by_text("was not accepted").count() == 0


def test_a_cell_of_the_map_loads_its_code(open_bits):
    page = open_bits(bits_tab="codes", bits_format="float8_e4m3fn")
    assert page.locator(".cells .cell").count() == 256

    page.locator(".cells .cell").nth(0x7E).click()
    assert value(page) == "448"
    assert page.locator(".cell.here").inner_text() == "448"
    page.locator(".cells .cell").nth(0x7E).press("ArrowRight")
    assert value(page) == "NaN"
    page.get_by_text("254 of them numbers").wait_for()


# The box of the picture once it keeps its size for twenty frames: what comes below it may bring a
# scroll bar, and a point that was worked out before lies in another row after.
SETTLED = """async (canvas) => {
  let [width, height, frames] = [0, 0, 0];
  while (frames < 20) {
    await new Promise(requestAnimationFrame);
    const box = canvas.getBoundingClientRect();
    frames = box.width === width && box.height === height ? frames + 1 : 0;
    ({ width, height } = box);
  }
  return { width, height };
}"""


def test_the_map_of_sixteen_bits_is_a_picture_that_can_be_clicked(open_bits):
    page = open_bits(bits_tab="codes", bits_format="float16")
    canvas = page.locator("canvas")
    box = canvas.evaluate(SETTLED)

    canvas.click(position={"x": box["width"] * 0.5 / 256, "y": box["height"] * 124.5 / 256})

    assert value(page) == "∞"  # row 0x7C, column 0x00


# The colour of a code in the picture, and the colours of the legend's samples from left to right.
PAINTED = """(canvas, [row, column]) => [...canvas.getContext("2d")
  .getImageData(column, row, 1, 1).data].slice(0, 3).join()"""
SAMPLES = """(samples) => samples.map((sample) => {
  const { backgroundColor, backgroundImage } = getComputedStyle(sample);
  const color = backgroundImage === "none" ? backgroundColor : backgroundImage;
  return color.match(/rgb\\(([^)]*)\\)/)[1].replaceAll(" ", "");
})"""
# Of normal numbers one of the largest: weaker colours lose a little where they are stored.
CODES = [(0x00, 0x00), (0x00, 0x01), (0x7B, 0x00), (0x7C, 0x00), (0x7E, 0x00)]


def test_the_picture_has_the_colours_of_its_legend_also_when_they_change(open_bits):
    """A theme's colours come after the grid when the machine is busy, and change with the theme."""
    page = open_bits(bits_tab="codes", bits_format="float16")
    samples, canvas = page.locator(".legend .cell"), page.locator("canvas")
    samples.last.wait_for()
    said = page.locator(".legend .scale").inner_text()
    assert said == "the stronger the colour, the larger the magnitude"

    def colors_soon(is_wanted):
        for _attempt in range(100):
            shown = samples.evaluate_all(SAMPLES)
            painted = [canvas.evaluate(PAINTED, list(code)) for code in CODES]
            if painted == shown and len(set(shown)) == len(CODES) and is_wanted(shown):
                return shown
            page.wait_for_timeout(50)
        pytest.fail(f"the picture has {painted}, its legend {shown}")

    light = colors_soon(bool)
    page.emulate_media(color_scheme="dark")
    colors_soon(lambda shown: shown != light)
    page.locator(".grid").evaluate("grid => grid.style.setProperty('--b2g-exponent', '#010203')")
    colors_soon(lambda shown: "1,2,3" in shown)


SHARES = f"""([row, count]) => Array.from({{ length: count }},
  (_, code) => {CODEC}.magnitudeShare(row, code))"""


def test_the_browser_grades_every_code_by_magnitude_as_python_does(open_bits):
    page = open_bits(bits_tab="codes", bits_format="float16")
    for fmt in FORMATS.values():
        if fmt.bits > 16:
            continue
        seen = page.evaluate(SHARES, [dict(format_row(fmt)), fmt.num_codes])
        step = 1 if fmt.bits <= 8 else 97
        for code in range(0, fmt.num_codes, step):
            assert seen[code] == pytest.approx(magnitude_share(fmt, code)), (fmt.name, code)


def test_the_grid_works_on_a_designed_format_beyond_float64(open_bits):
    page = open_bits(bits_tab="designer", bits_exp="15", bits_man="3", bits_dcode="0x3FFF7")

    assert value(page) == "1.11537327689…e+4932"
    page.locator("[data-step=below]").click()
    assert value(page).endswith("e+4932")


def test_in_chinese_every_word_of_the_grid_is_chinese(open_bits):
    page = open_bits(lang="zh")

    text = page.locator(".grid").inner_text()
    assert "指数" in text
    assert "正规数" in text
    words = re.sub(r"NaN|ULP|max|0x\w+|\de[-+]?\d+|[Mp]", "", text)
    assert re.findall(r"[A-Za-z]{4,}", words) == []
    assert bit(page, 15).get_attribute("aria-label") == "第 15 位，符号"


def test_a_locked_link_shows_bits_that_cannot_be_flipped(open_bits):
    page = open_bits(lock="1")

    page.evaluate(CLICK, 15)  # a program may; a reader's pointer and keys may not
    assert page.locator(".grid").evaluate("grid => grid.inert")
