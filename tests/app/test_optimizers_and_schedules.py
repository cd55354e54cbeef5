"""Optimizers and schedules: who is nearest, what a step keeps, schedules, clipping, the loop."""

import itertools
import math
import re

import pytest

from core.train.optimizers.loop import ORDERS, USUAL
from core.train.optimizers.rule import Rule, named_rule, run_rule
from core.train.optimizers.surfaces import SURFACES, nearest, race
from pages.train.optimizers_and_schedules.rule import _written
from tests.app.shown import page_links, texts

PAGE = "train/optimizers_and_schedules"


def headline(app):
    assert not app.exception
    return app.session_state["headline"]


def alts(app):
    return " ".join(each.proto.alt for each in app.get("plotly_chart"))


@pytest.mark.parametrize(("surface", "rate"), [("bowl", "0.0001"), ("beale", "10.0")])
def test_the_headline_names_who_is_nearest_and_the_code_says_the_same(
    open_page, run_code, surface, rate
):
    app = open_page(PAGE, optim_tab="race", optim_surface=surface, optim_lr=rate, optim_muon="true")
    names = ("SGD", "Momentum", "RMSProp", "Adam", "Muon")
    rules = {name: named_rule(name, float(rate), weight_decay=0.01) for name in names}
    paths = race(SURFACES[surface], rules, 100)
    first = nearest(paths)
    assert f"{first} is nearest to the minimum: {paths[first].distance:.3g} away" in headline(app)
    for name, path in paths.items():
        assert (f"{name} diverges at step {len(path.points) - 1}" in alts(app)) is path.diverged
    assert run_code(app) == f"{first}: {paths[first].distance:.3g} from the minimum\n"


def test_a_race_in_which_all_diverge_is_told(open_page):
    off = {f"optim_{name}": "false" for name in ("rmsprop", "adam", "muon")}
    app = open_page(PAGE, optim_tab="race", optim_surface="rosenbrock", optim_lr="10.0", **off)
    assert headline(app) == "All diverge at this learning rate: SGD, Momentum"


def test_a_race_of_nobody_is_told_in_a_sentence(open_page):
    off = {f"optim_{name}": "false" for name in ("sgd", "momentum", "rmsprop", "adam", "muon")}
    app = open_page(PAGE, optim_tab="race", **off)
    assert not app.exception
    assert any("switch at least one optimizer on" in each.value for each in app.error)
    assert "This is AdamW" in headline(open_page(PAGE, optim_tab="rule", **off))


@pytest.mark.parametrize("momentum", ["none", "sum", "ema"])
@pytest.mark.parametrize("second", ["none", "sum", "ema"])
def test_every_mix_of_moments_has_code_that_makes_the_same_two_steps(
    open_page, run_code, momentum, second
):
    for decay, nesterov in (("none", "true"), ("l2", "false"), ("decoupled", "true")):
        app = open_page(
            PAGE, optim_tab="rule", optim_m=momentum, optim_v=second, optim_wd=decay,
            optim_nesterov=nesterov, optim_lr="0.1",
        )  # fmt: skip
        ((first, second_p),) = re.findall(r"from 1 to (-?[\d.]+) and (-?[\d.]+\d)", headline(app))
        told = f"p after step 1: {first}\np after step 2: {second_p}\n"
        assert run_code(app) == told, (decay, nesterov)


def test_the_written_rule_is_the_one_that_ran():
    """Every mix of switches: its formula, read as arithmetic, leads from one step to the next."""
    signs = {"·": " * ", "−": "-", "β₁ᵗ": "beta1**t", "β₁": "beta1", "m̂": "m_hat", "v̂": "v_hat"}
    mixes = itertools.product(
        ("none", "sum", "ema"), ("none", "sum", "ema"), ("none", "l2", "decoupled"),
        (False, True), (False, True),
    )  # fmt: skip
    for momentum, second, decay, bias, nesterov in mixes:
        rule = Rule(
            lr=0.1, momentum=momentum, second=second, decay=decay, weight_decay=0.1,
            bias_correction=bias, nesterov=nesterov, eps=1e-3,
        )  # fmt: skip
        t, step = 3, run_rule(rule, lambda p: (p[0] / 2,), (1.0,), 3)[-1]
        formula, _comma, told = _written(rule).replace("**", "").partition(", ")
        assert told == ("g = p/2 + wd·p" if decay == "l2" else "")
        for sign, by in signs.items():
            formula = formula.replace(sign, by)
        formula = re.sub(r"√(v\w*)", r"math.sqrt(\1)", formula).removeprefix("p ← ")
        (p,), (m,), (v,) = step.before, step.m, step.v
        hats = {"m_hat": m / (1 - 0.9**t), "v_hat": v / (1 - 0.999**t)}
        g = p / 2 + (0.1 * p if decay == "l2" else 0)
        names = {"p": p, "g": g, "m": m, "v": v, "lr": 0.1, "wd": 0.1, "ε": 1e-3, "t": t}
        found = eval(formula, names | hats | {"beta1": 0.9, "math": math})  # noqa: S307
        assert found == pytest.approx(step.after[0], rel=1e-12), formula


def test_a_rule_that_diverges_says_at_which_step(open_page):
    app = open_page(
        PAGE, optim_tab="rule", optim_m="none", optim_v="none", optim_wd="none", optim_lr="10.0"
    )
    # |p| is multiplied by |1 - 10/2| = 4: 4**10 is the first above a million.
    assert "This is SGD" in headline(app)
    assert "it diverges at step 10" in headline(app)


def test_the_table_has_a_hat_only_on_what_is_corrected(open_page):
    rows = (
        ({"m": "none", "v": "sum"}, ["g", "v", "update"]),  # AdaGrad: a sum has no correction
        ({"m": "ema", "v": "ema"}, ["g", "m", "v", "m̂", "v̂", "update"]),
        ({"m": "ema", "v": "ema", "bias": "false"}, ["g", "m", "v", "update"]),
        ({"m": "sum", "v": "none", "nesterov": "true"}, ["g", "m", "with Nesterov", "update"]),
    )
    for switches, wanted in rows:
        query = {f"optim_{name}": word for name, word in switches.items()}
        (table,) = [each.value for each in open_page(PAGE, optim_tab="rule", **query).table]
        assert list(table)[2:-1] == wanted, switches
    assert table["with Nesterov"][0] == table["update"][0]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"optim_total": "1000", "optim_warmup": "900"}, "0.001 in 900 steps"),
        ({"optim_schedule": "cosine", "optim_epochs": "20"}, "0 at epoch 10 and 0.001 at epoch 20"),
        ({"optim_schedule": "cosine", "optim_epochs": "1", "optim_t_max": "100"}, "after 1 epoch"),
        ({"optim_schedule": "step", "optim_epochs": "30"}, "down to 1e-06 after 30 epochs"),
        ({"optim_schedule": "step", "optim_epochs": "100"}, "after 100 epochs"),
    ],
)
def test_a_schedule_says_its_turns_and_its_code_the_last_rate(open_page, run_code, query, said):
    app = open_page(PAGE, optim_tab="schedules", **query)
    assert said in headline(app)
    last = float(run_code(app).split()[-1])
    assert last == pytest.approx(float(re.findall(r"to ([\d.e-]+) a|$", headline(app))[0] or last))


@pytest.mark.parametrize(("depth", "gain"), [("1", "0.1"), ("50", "4.0")])
def test_norms_before_and_after_are_those_of_the_code(open_page, run_code, depth, gain):
    app = open_page(PAGE, optim_tab="clipping", optim_depth=depth, optim_gain=gain)
    before, after = run_code(app).strip().split(" -> ")
    if "→" in headline(app):
        assert f"{before} → {after}:" in headline(app)
    else:
        assert f"Gradient norm {before}: below max_norm" in headline(app)
    assert "4.66 standard deviations" in " ".join(texts(app))


@pytest.mark.parametrize("order", ORDERS[:8:3] + ORDERS[-2:], ids="-".join)
def test_the_loop_of_an_order_learns_what_its_code_learns(open_page, run_code, order):
    app = open_page(PAGE, optim_tab="loop", optim_order="-".join(order))
    printed = run_code(app)
    if "fails" in headline(app):
        assert printed.strip() in headline(app)
    else:
        slope, sign, offset = re.findall(r"y = (\S+)x ([+-]) (\S+)", headline(app))[0]
        assert printed.strip() == f"['{slope}', '{sign.replace('+', '')}{offset}']"


def test_more_iterations_bring_the_line_and_a_high_rate_ends_in_a_sentence(open_page):
    far = open_page(PAGE, optim_tab="loop", optim_iterations="3000", optim_loop_lr="0.05")
    assert "y = 2.00x + 1.00" in headline(far)
    wild = open_page(PAGE, optim_tab="loop", optim_loop_lr="1.0")
    assert "grows without end" in headline(wild)
    assert headline(open_page(PAGE, optim_tab="loop", optim_iterations="1"))


def test_the_state_of_optimizers_leads_to_training_memory(open_page, run_code):
    app = open_page(PAGE, optim_tab="rule", optim_view="state")
    assert "SGD keeps 0 bytes per parameter, momentum and Muon 4, AdamW 8" in headline(app)
    assert any(each.page == "training-memory" for each in page_links(app))
    printed = run_code(app)
    assert "AdamW 8.0 bytes per parameter" in printed
    assert "set_to_none=False: 262144 bytes" in printed


@pytest.mark.parametrize(("tab", "right"), [("rule", "0.1"), ("schedules", "0.001")])
def test_a_question_offers_the_answer_that_torch_gives(open_page, tab, right):
    app = open_page(PAGE, optim_tab=tab, optim_predict="true", optim_total="1000")
    (radio,) = [each for each in app.radio if each.key.startswith("optim_")]
    assert any(option.endswith(right) for option in radio.options)


@pytest.mark.parametrize("order", [USUAL, ORDERS[4]], ids="-".join)
def test_the_classifier_names_as_many_digits_as_its_code_does(open_page, run_code, order):
    app = open_page(
        PAGE, optim_tab="loop", optim_problem="digits", optim_order="-".join(order),
        optim_loop_lr="0.03", optim_digit_epochs="2",
    )  # fmt: skip
    share = float(re.search(r"2 epochs ([\d.]+)", headline(app))[1])
    lines = run_code(app).split()
    assert lines[::2] == ["1", "2"]
    assert float(lines[-1].rstrip("%")) == pytest.approx(share, abs=0.06)
    assert (share > 80) is (order == USUAL)
    assert "the first 14 test images" in alts(app).lower()


def test_a_classifier_whose_statements_fail_says_torchs_reason(open_page):
    app = open_page(
        PAGE,
        optim_tab="loop",
        optim_problem="digits",
        optim_order="forward-zero_grad-backward-step",
    )
    assert "Epoch 1 fails: `NameError" in headline(app)
