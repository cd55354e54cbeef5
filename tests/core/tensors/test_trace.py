"""What a trace tells, against torch run by hand."""

import gc
from random import Random

import pytest
import torch

from core.expressions import MATERIALIZED, ON_META
from core.expressions.methods import DTYPES, METHODS
from core.expressions.names import LAYOUT, MUTATION
from core.tensors.trace import MAX_VALUES, layout_of, trace
from tests.core.expressions.random_programs import random_program


def x46():
    return torch.arange(24.0).view(4, 6)


def traced(text, profile=MUTATION, **tensors):
    return trace(text, tensors or {"x": x46()}, profile=profile)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x.t().contiguous().view(24)", ["view", "copy", "view"]),
        ("x.contiguous().float()", ["same", "same"]),
        ("torch.arange(4).view(2, 2) + 1", ["new", "view", "new"]),
        ("x[1:].reshape(18)", ["view", "view"]),
        ("x.detach().data", ["view", "view"]),
        ("x[[0, 1]]", ["copy"]),
        ("rearrange(x, 'a b -> a b')", ["same"]),
        ("repeat(x, 'a b -> a b c', c=2)", ["view"]),
        ("reduce(x, 'a b -> a', 'sum')", ["new"]),
        ("x[0] = 5", ["same"]),
    ],
)
def test_each_step_is_a_view_a_copy_the_same_or_new(text, kinds):
    run = traced(text)
    assert run.error is None
    assert [step.kind for step in run.steps] == kinds


def test_a_copy_has_the_numbers_that_were_read_and_a_computed_result_has_others():
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    # Numbers of x, but found by comparing.
    picked = {"amax", "amin", "max", "min", "maximum", "minimum", "median", "clamp", "nan_to_num"}
    picked |= {"sort", "topk", "kthvalue", "unique"}
    neutral = {
        ("add", "0"),
        ("sub", "0"),
        ("subtract", "0"),
        ("diff", "0"),
    }  # computed all the same
    kinds = {"copy": 0, "new": 0}
    for name in METHODS.keys() - DTYPES.keys() - picked:
        for arguments in ("", "0", "1, 1", "2, 2, 8", "(0, 1)", "(2, 2), (1, 4)", "x", "x > 0"):
            run = trace(f"x.{name}({arguments})", {"x": x})
            step = run.steps[-1] if run.steps and not run.error else None
            if step and step.kind in kinds and (name, arguments) not in neutral:
                storage = next(s for s in run.storages if s.key == step.outputs[0].storage)
                moved = torch.isin(torch.tensor(storage.values), x.double()).all()
                assert (step.kind == "copy") == moved, (name, arguments)
                kinds[step.kind] += 1
    assert min(kinds.values()) >= 20, kinds


def test_storages_have_one_name_each_and_views_share_it():
    run = traced("y = x.t()\nz = y.contiguous()\nz[0]\ny[0]")
    assert [each.outputs[0].storage for each in run.steps] == ["S0", "S1", "S1", "S0"]
    assert [storage.num_bytes for storage in run.storages] == [96, 96]
    assert run.storages[0].values == tuple(map(float, range(24)))
    assert run.storages[1].values[:4] == (0.0, 6.0, 12.0, 18.0)
    assert run.variables == {"x": ("t0",), "y": ("t1",), "z": ("t2",)}


def test_an_object_has_one_key_wherever_it_appears():
    run = traced("y = x.contiguous()\na, b = y.chunk(2)\na + a")
    assert run.variables == {"x": ("t0",), "y": ("t0",), "a": ("t1",), "b": ("t2",)}
    assert run.steps[-1].inputs == ("t1", "t1")
    assert [each.key for each in run.tensors] == ["t0", "t1", "t2", "t3"]


def test_memory_that_is_given_back_is_not_taken_for_shared():
    """Each `x + 1` is freed by a plain program, and torch uses its place for the next."""
    run = traced("\n".join(["x + 1"] * 12))
    gc.collect()
    storages = [step.outputs[0].storage for step in run.steps]
    assert len(set(storages)) == 12
    assert {step.kind for step in run.steps} == {"new"}


def test_tensors_without_data_and_without_elements_are_told_apart_too():
    empty = traced("x + 1\nx + 1", x=torch.zeros(0, 3))
    meta = trace("x + 1\nx.t()", {"x": torch.empty(9**9, 9, device="meta")}, ON_META)
    assert [step.outputs[0].storage for step in empty.steps] == ["S1", "S2"]
    assert [step.outputs[0].storage for step in meta.steps] == ["S1", "S0"]
    assert meta.storages[0].values == ()
    assert {step.kind for step in empty.steps} == {"new"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x.t().reshape(24)", ["t", "clone", "_unsafe_view"]),
        ("x.view(24)", ["view"]),
        ("x @ x.t()", ["t", "mm"]),
    ],
)
def test_aten_rows_are_what_ran_underneath(text, names):
    run = traced(text)
    rows = [row for step in run.steps for row in step.aten]
    assert [row.name for row in rows] == [f"aten.{name}.default" for name in names]
    for step in run.steps:
        assert step.bytes_made == sum(row.num_bytes for row in step.aten)
    made = {"clone": 96, "mm": 64}
    assert [row.num_bytes for row in rows] == [made.get(name, 0) for name in names]


def test_flops_of_a_product_are_told():
    (row,) = traced("x @ y", x=torch.zeros(2, 3), y=torch.zeros(3, 5)).steps[0].aten
    assert row.flops == 2 * 2 * 3 * 5


def test_hidden_copies_of_split_heads_are_bytes_made_but_not_copied():
    run = traced(
        "q = x.view(2, 4, 2, 3).transpose(1, 2)\nq @ q.transpose(-2, -1)", x=torch.zeros(2, 4, 6)
    )
    product = run.steps[-1]
    clones = [row.num_bytes for row in product.aten if "clone" in row.name]
    assert clones == [192, 192]
    assert product.bytes_copied == 0
    assert (product.bytes_hidden, product.bytes_made) == (2 * 192, 256 + 2 * 192)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("y = x[:, 1]\ny.mul_(2)", {"S0": (1, 7, 13, 19)}),
        ("y = x.t()\ny[0] = 50", {"S0": (0, 6, 12, 18)}),
        ("x[x > 21] = 0.0", {"S0": (22, 23)}),
        ("y = x.clone()\ny[0, 0] = 9", {"S1": (0,)}),
        ("x[0, 0] = 0", {}),
        ("y = torch.zeros(3, 1)\ne = y.expand(3, 4)\ne[0, 0] = 5", {"S1": (0,)}),
    ],
)
def test_writing_tells_which_cells_changed(text, changed):
    run = traced(text)
    assert run.error is None
    assert run.steps[-1].changed == changed


def test_cells_that_hold_nan_before_and_after_did_not_change():
    run = traced("y = torch.empty(3)\ny[0] = 1.0\ny.copy_(y)")
    assert [step.changed for step in run.steps[1:]] == [{"S1": (0,)}, {}]


def test_writing_into_what_has_no_data_changes_nothing_that_is_seen():
    run = trace("x.add_(1)", {"x": torch.empty(4, device="meta")}, ON_META, MUTATION)
    assert run.error is None
    assert run.steps[0].changed == {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own, of old ways to index
def test_random_programs_are_told_without_a_crash():
    rng = Random(20261123)  # noqa: S311  a seeded test
    num_steps = 0
    for _ in range(2000):
        text, meta = random_program(rng), rng.random() < 0.2
        device, limits = ("meta", ON_META) if meta else ("cpu", MATERIALIZED)
        x, v = (torch.ones(shape, device=device) for shape in ((4, 6), 7))
        scalar, empty = (torch.zeros(shape, device=device) for shape in ((), (0, 3)))
        names = {"x": x, "v": v, "m": x > 3, "s": scalar.long(), "e": empty}
        run = trace(text, names, limits, rng.choice([LAYOUT, MUTATION]))
        num_steps += len(run.steps)
    assert num_steps > 1000


@pytest.mark.parametrize(
    "text",
    ["y = x.t()\ny.reshape(24)", "a, b = x.chunk(2)", "rearrange(x, 'a b -> b a')", "x[1] = 3.0"],
)
def test_the_script_runs_and_gives_the_result(text):
    run = traced(text)
    names = {"x": x46()}
    exec(run.script, names)  # noqa: S102  our own texts
    assert layout_of(names["result"]) == run.tensors[-1].layout


@pytest.mark.parametrize(
    ("text", "num_steps", "script"),
    [
        ("y = x.t()\nz = y.view(24)\nz + 1", 1, "y = x.t()\nresult = y"),
        ("y = x.t(); y.view(24)", 1, "y = x.t()\nresult = y"),
        ("y = x.t().contiguous().view(5)", 2, ""),
        ("x.t() +", 0, ""),
    ],
)
def test_an_error_keeps_the_steps_before_it_and_their_script(text, num_steps, script):
    run = traced(text)
    assert run.error is not None
    assert len(run.steps) == num_steps
    assert run.script.removeprefix("import torch").strip() == script
    assert run.inputs[0].text == "x"


def test_a_refused_view_is_remembered_with_its_shape():
    assert traced("x.t().view(2, -1)").refused_shape == (2, -1)
    assert traced("x.t().view(torch.float16)").refused_shape is None
    assert traced("x.nope()").refused_shape is None
    ended = traced("y = x.t()\nz = x[0]\ny.view(6)")
    (refused,) = [each for each in ended.tensors if each.key == ended.refused_tensor]
    assert refused.layout.stride == (1, 6)


def test_values_and_dtypes_are_read_as_they_lie_in_the_storage():
    run = traced("x.view(torch.int32)[0]\nx.half()", x=torch.arange(6.0).view(2, 3)[1:].t())
    assert run.storages[0].values == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert [each.dtype for each in run.tensors] == ["float32", "int32", "int32", "float16"]
    lazy = traced("x.imag", x=torch.tensor([1 + 2j, 3 - 4j]).conj())
    assert lazy.storages[0].values == (1.0, 2.0, 3.0, -4.0)
    assert len(traced("x + 1", x=torch.zeros(9999)).storages[0].values) == MAX_VALUES
