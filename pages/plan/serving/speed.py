"""How fast answers come: throughput over latency, the roofline, and the speeds behind the rule."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from core.budget.item import Item, is_uncertain
from core.budget.serving.decode_speeds import (
    DecodeFit,
    far_band,
    measured_fit,
    near_band,
    published_speeds,
)
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.memory import inference_budget
from core.budget.serving.peaks import product_peak, serving_peak
from core.budget.serving.throughput import (
    Curve,
    RooflinePoint,
    device_ridge,
    device_speed,
    roofline_points,
    throughput_curve,
    user_speed,
)
from core.figures.budget.flops_frame import intensity_words
from core.figures.budget.serving.roofline import roofline_picture
from core.figures.budget.serving.speed import BAND, BOUNDS, error, proof_picture, speed_picture
from core.language import _, ngettext
from core.units import format_count, format_percent, format_seconds
from pages.plan.serving.code import PROOF, roofline_code, speed_code
from pages.plan.serving.inputs import Case, words_of
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared, shown, two_names
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown


def speed(case: Case) -> Shown:
    """Show throughput over latency, and the plan's four numbers."""
    curve = throughput_curve(case.spec, case.plan, case.cluster)
    prefill = prefill_latency(case.spec, case.plan, case.cluster)
    token = decode_latency(case.spec, case.plan, case.cluster)
    fits = inference_budget(case.spec, case.plan, case.cluster).fits
    numbers = {
        _("first token (TTFT)"): prefill,
        _("each token (TPOT)"): token,
        _("per user"): user_speed(token),
        _("per device"): device_speed(case.plan, prefill, token),
    }
    picture = speed_picture(curve, case.plan.concurrency, look())
    return Shown(
        headline=speed_sentence(case),
        charts=[Chart(picture=picture, file_name="latency-throughput")],
        numbers=[(if_fitted(label, fits=fits), item) for label, item in numbers.items()],
        notes=[_band_said(token)],
        code=_speed_code(case, prefill),
    )


def two_speeds(a: Sequence[Case], b: Sequence[Case]) -> Shown:
    """Show how fast two plans are, for one of their users and for the device."""
    cases = (*a, *b)
    return shown(*map(_side, cases, two_names(*map(words_of, cases))))


def _side(case: Case, name: str) -> Compared:
    prefill = prefill_latency(case.spec, case.plan, case.cluster)
    token = decode_latency(case.spec, case.plan, case.cluster)
    rows = [
        (_("tokens/s per user"), user_speed(token)),
        (_("tokens/s per device"), device_speed(case.plan, prefill, token)),
        (_("first token (TTFT)"), prefill),
        (_("each token (TPOT)"), token),
    ]
    verdict = inference_budget(case.spec, case.plan, case.cluster).words
    code = speed_code([case.plan], [token], None)
    return Compared(name=name, rows=rows, verdict=verdict, code=code)


def _band_said(token: Item) -> str:
    """Return how long a token may take, and where that band comes from."""
    if token.high == inf:
        return _("How much longer a token takes is not known: not everything was counted.")
    return _("Each token takes {low} to {high}: {why}.").format(
        low=format_seconds(token.low), high=format_seconds(token.high), why=_(token.source)
    )


def speed_sentence(case: Case) -> str:
    """Return the speed for one user and for as many as memory allows."""
    curve = _curve_from_one(case)
    first, last = curve.points[0], curve.last_that_fits
    is_guess = is_uncertain(case.spec)
    one = format_count(1 / first.seconds_per_token)
    words = {"one": _("about {amount}").format(amount=one) if is_guess else one}
    if last is None:
        said = _("One user would get {one} tokens/s, but not one sequence fits")
        if is_guess:
            said = _("One user would get {one} tokens/s, but perhaps not one sequence fits")
        return said.format(**words)
    words |= {
        "each": format_count(1 / last.seconds_per_token),
        "device": format_count(last.tokens_per_second),
        "count": f"{'≈ ' if is_guess else ''}{last.concurrency:,}",
    }
    said = ngettext(
        "{one} tokens/s for one user; KV cache full at {count} sequence ({device} tokens/s per "
        "device, prompts included)",
        "{one} tokens/s for one user; KV cache full at {count} concurrent users: {each} each, "
        "{device} per device, prompts included",
        last.concurrency,
    ).format(**words)
    return said[:1].upper() + said[1:]


def _curve_from_one(case: Case) -> Curve:
    return throughput_curve(case.spec, replace(case.plan, concurrency=1), case.cluster)


def _speed_code(case: Case, prefill: Item) -> str:
    """Return code for the speed of one user and of as many as memory allows."""
    last = _curve_from_one(case).last_that_fits
    counts = (1, last.concurrency) if last and last.concurrency > 1 else (1,)
    plans = [replace(case.plan, concurrency=count) for count in counts]
    tokens = [decode_latency(case.spec, plan, case.cluster) for plan in plans]
    return speed_code(plans, tokens, prefill if last else None)


def roofline(case: Case) -> Shown:
    """Show decoding and prefill under the roof of the device."""
    points = roofline_points(case.spec, case.plan, case.cluster)
    device = case.cluster.device
    roof = (serving_peak(device, case.plan), device.bandwidth)
    wide = product_peak(device, case.plan.weight_format)
    picture = roofline_picture(points, roof, look(), peak_in_16_bits=wide)
    return Shown(
        headline=roofline_sentence(case, points),
        charts=[Chart(picture=picture, file_name="serving-roofline")],
        code=roofline_code(decode_latency(case.spec, case.plan, case.cluster)),
    )


def roofline_sentence(case: Case, points: tuple[RooflinePoint, ...]) -> str:
    """Return what limits the plan, how far it and a prompt are from the peak, and the ridge."""
    device = case.cluster.device
    plan = next(point for point in points if point.num_tokens == case.plan.concurrency)
    ridge = device_ridge(device, case.plan).amount
    bound = BOUNDS["reading"] if plan.intensity < ridge else BOUNDS["computing"]
    return ngettext(
        "Decoding {count} sequence is {bound}: {intensity} FLOP/byte, {mfu} of the peak (ridge "
        "point of {device}: {ridge}); prefill reaches {prompt}",
        "Decoding {count} sequences is {bound}: {intensity} FLOP/byte, {mfu} of the peak (ridge "
        "point of {device}: {ridge}); prefill reaches {prompt}",
        case.plan.concurrency,
    ).format(
        count=f"{case.plan.concurrency:,}",
        bound=_(bound),
        intensity=intensity_words(plan.intensity),
        mfu=format_percent(plan.mfu),
        prompt=format_percent(points[-1].mfu),
        device=device.name,
        ridge=intensity_words(ridge),
    )


def proof() -> Shown:
    """Show every published speed against the rule that was learned from all of them."""
    rows, rule = published_speeds(), measured_fit()
    errors = [abs(error(row, rule)) for row in rows]
    said = _(
        "{near} of {count} published speeds are within 15 % of the fitted rule; with each speed "
        "predicted from the other ones, nine in ten are within {left_out}"
    ).format(
        near=sum(each <= BAND for each in errors),
        count=len(rows),
        left_out=format_percent(near_band().above),
    )
    picture = proof_picture(rows, rule, look())
    return Shown(
        headline=said,
        charts=[Chart(picture=picture, file_name="published-speeds")],
        notes=[_rule_said(rule), _bands_said()],
        code=PROOF,
    )


def _rule_said(rule: DecodeFit) -> str:
    """Return the rule in its numbers."""
    return _(
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


def _bands_said() -> str:
    """Return how far the rule is off where it has not been, and where nobody knows."""
    near, far = near_band(), far_band()
    return _(
        "Error bands: ±{near} for one sequence on A100, each speed predicted from the other ones; "
        "−{below} to +{above} for other devices or several sequences, the speeds on one A100 "
        "predicted from those on several, and the reverse; none for prompts, because no "
        "measurements are published."
    ).format(
        near=format_percent(near.above),
        below=format_percent(far.below),
        above=format_percent(far.above),
    )
