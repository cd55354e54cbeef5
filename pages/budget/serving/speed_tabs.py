"""How fast answers come: throughput over latency, the roofline, and the speeds behind the rule."""

import statistics
from dataclasses import replace

import streamlit as st

from core.budget.serving.decode_speeds import DecodeFit, measured_fit, published_speeds
from core.budget.serving.latency import decode_latency, prefill_latency, product_peak
from core.budget.serving.throughput import (
    device_ridge,
    device_speed,
    roofline_points,
    throughput_curve,
    user_speed,
)
from core.figures.budget.flops_frame import intensity_words
from core.figures.budget.serving.latency_throughput import (
    latency_alt,
    latency_figure,
    latency_table,
)
from core.figures.budget.serving.serving_roofline_plot import (
    roofline_alt,
    roofline_figure,
    roofline_table,
)
from core.figures.budget.serving.speed_proof import (
    BAND,
    error,
    speed_alt,
    speed_figure,
    speed_table,
)
from core.language import _, ngettext
from core.units import format_count, format_percent
from pages.budget.serving.inputs import PAGE, ServingCase
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode


def show_speed(case: ServingCase) -> None:
    """Show throughput over latency, and the plan's four numbers."""
    curve = throughput_curve(case.spec, case.plan, case.cluster)
    headline(speed_sentence(case))
    picture, numbers = beside(f"{PAGE}_speed")
    with picture:
        show_chart(
            latency_figure(curve, case.plan.concurrency, theme_mode(), present=presenting()),
            key=f"{PAGE}_speed",
            alt=latency_alt(curve),
            table=latency_table(curve),
            file_name="latency-throughput",
        )
    with numbers, st.container(key="serving_numbers", horizontal=presenting()):
        prefill = prefill_latency(case.spec, case.plan, case.cluster)
        token = decode_latency(case.spec, case.plan, case.cluster)
        explained_number(_("first token"), prefill)
        explained_number(_("each token"), token)
        explained_number(_("per reader"), user_speed(token))
        explained_number(_("per device"), device_speed(case.plan, prefill, token))


def speed_sentence(case: ServingCase) -> str:
    """Return the speed for one reader and for as many as memory allows."""
    curve = throughput_curve(case.spec, replace(case.plan, concurrency=1), case.cluster)
    first, last = curve.points[0], curve.last_that_fits
    words = {"one": format_count(1 / first.seconds_per_token)}
    if last is None:
        return _("One reader would get {one} tokens/s, but not one sequence fits").format(**words)
    words |= {
        "each": format_count(1 / last.seconds_per_token),
        "device": format_count(last.tokens_per_second),
        "count": f"{last.concurrency:,}",
    }
    return ngettext(
        "{one} tokens/s for one reader: memory ends it at {count} sequence ({device} per device, "
        "prompts included)",
        "{one} tokens/s for one reader; KV memory ends it at {count} at once: {each} each, "
        "{device} per device, prompts included",
        last.concurrency,
    ).format(**words)


def show_roofline(case: ServingCase) -> None:
    """Show decoding and prefill under the roof of the device."""
    points = roofline_points(case.spec, case.plan, case.cluster)
    device, ridge = case.device.device, device_ridge(case.device.device, case.plan.weight_format)
    plan = next(point for point in points if point.num_tokens == case.plan.concurrency)
    headline(
        _(
            "Decoding {count} at once: {intensity} FLOPs per byte, {mfu} of the peak; a prompt "
            "reaches {prompt}; {device} needs {ridge} FLOPs per byte"
        ).format(
            count=f"{case.plan.concurrency:,}",
            intensity=intensity_words(plan.intensity),
            mfu=format_percent(plan.mfu),
            prompt=format_percent(points[-1].mfu),
            device=device.name,
            ridge=intensity_words(ridge.amount),
        )
    )
    roof = (product_peak(device, case.plan.weight_format), device.bandwidth)
    show_chart(
        roofline_figure(points, roof, theme_mode(), present=presenting()),
        key=f"{PAGE}_roofline",
        alt=roofline_alt(points),
        table=roofline_table(points),
        file_name="serving-roofline",
    )


def show_proof(_case: ServingCase) -> None:
    """Show every published speed against the rule that was learned from all of them."""
    rows, rule = published_speeds(), measured_fit()
    errors = [abs(error(row, rule)) for row in rows]
    headline(
        _(
            "{near} of {count} published speeds lie within 15 % of the rule, half of them within "
            "{median}"
        ).format(
            near=sum(each <= BAND for each in errors),
            count=len(rows),
            median=format_percent(statistics.median(errors)),
        )
    )
    show_chart(
        speed_figure(rows, rule, theme_mode(), present=presenting()),
        key=f"{PAGE}_proof",
        alt=speed_alt(rows, rule),
        table=speed_table(rows, rule),
        file_name="published-speeds",
    )
    _say_rule(rule)


def _say_rule(rule: DecodeFit) -> None:
    """Say the rule in its numbers."""
    st.caption(
        _(
            "Each layer costs {launch} µs, with several devices {join} µs more; weights are read "
            "at {wide} of the bandwidth in 16 bits, {eight} in 8, {four} in 4. Source: gpt-fast "
            "README, A100 80GB, one sequence."
        ).format(
            launch=f"{rule.launch_seconds * 1e6:.0f}",
            join=f"{rule.join_seconds * 1e6:.0f}",
            wide=format_percent(rule.shares[16]),
            eight=format_percent(rule.shares[8]),
            four=format_percent(rule.shares[4]),
        )
    )
