import gc
import weakref

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from core.models.stages import axes_of
from core.models.walk import walk
from tests.core.models.small_models import SHAPE, small_model, some_ids

DTYPES = (torch.float32, torch.float64)


@pytest.fixture
def model():
    return small_model("gpt")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_last_stage_is_the_output_bit_for_bit(dtype):
    model, ids = small_model("gpt", dtype), some_ids(9, batch=2)
    last = walk(model, ids)[-1]
    assert (last.name, last.kind, last.layer) == ("logits", "logits", None)
    assert last.outputs["logits"].dtype == dtype
    with torch.no_grad():
        assert torch.equal(last.outputs["logits"], model.logits(ids))


INSIDE = {"scores", "mask", "softmax", "mix"}  # of one kernel: no module's output


def test_each_stage_is_what_a_hook_sees(model):
    given, seen = hooked(model, some_ids(9))
    for stage in walk(model, some_ids(9)):
        if stage.kind not in INSIDE:
            outputs = [*stage.outputs.values()]
            if stage.kind == "heads":
                outputs = [torch.cat([each.transpose(1, 2).flatten(2) for each in outputs], -1)]
            assert torch.equal(outputs[0], from_hooks(stage, given, seen)), stage.name


def from_hooks(stage, given, seen):
    """Return the tensor of a stage as hooks on the model's modules have seen it."""
    if stage.kind in {"positions", "residual"}:  # what the next module is given
        if stage.name.endswith("residual_2"):
            return seen[stage.module]
        return given[f"{stage.module}.norm_2" if stage.kind == "residual" else "blocks.0"]
    if stage.kind in {"merge", "activation"}:
        return given[f"{stage.module}.out"]
    if stage.kind == "heads":
        return seen[f"{stage.module}.qkv"]
    return seen[stage.module]


@torch.no_grad()
def hooked(model, ids):
    """Return what each module was given first, and what it gave back."""
    given, seen = {}, {}

    def keep(name, arguments, output):
        given[name], seen[name] = (arguments[0] if arguments else None), output

    hooks = [
        module.register_forward_hook(lambda _m, args, out, name=name: keep(name, args, out))
        for name, module in model.named_modules()
    ]
    model.logits(ids)
    for hook in hooks:
        hook.remove()
    return given, seen


def test_every_stage_follows_from_the_ones_before_it(model):
    known = {id(each): each for each in model.parameters()}
    for stage in walk(model, some_ids(7)):
        for name, tensor in stage.inputs.items():
            is_known = any(_same(tensor, each) for each in known.values())
            from_outside = {"token_ids", "positions", "keep"}
            assert is_known or name in from_outside, (stage.name, name)
        known |= {id(each): each for each in stage.outputs.values()}


def _same(one, other):
    return one.shape == other.shape and torch.equal(one, other)


def test_the_sums_are_the_residual_stream(model):
    for stage in walk(model, some_ids(7)):
        if stage.kind == "residual":
            total = stage.inputs["x"] + stage.inputs["added"]
            assert torch.equal(total, stage.outputs["x"]), stage.name


def test_the_mix_by_hand_is_what_the_kernel_gave(model):
    merges = [stage for stage in walk(model, some_ids(12)) if stage.kind == "merge"]
    for stage in merges:
        by_hand = stage.inputs["mixed"].transpose(1, 2).flatten(2)
        torch.testing.assert_close(by_hand, stage.outputs["merged"], atol=1e-6, rtol=1e-5)
    assert len(merges) == len(model.blocks)


def test_an_equation_names_the_axes_of_the_tensors(model):
    sizes = {}
    for stage in walk(model, some_ids(7)):
        left, _arrow, right = stage.equation.partition("->")
        sides = [*zip(axes_of(left), stage.inputs.values(), strict=True)]
        sides += [(stage.axes[name], each) for name, each in stage.outputs.items()]
        assert axes_of(right)[0][-1] == next(iter(stage.axes.values()))[-1]
        for axes, tensor in sides:
            assert len(axes) == tensor.dim(), (stage.name, stage.equation)
            for letter, size in zip(axes, tensor.shape, strict=True):
                assert sizes.setdefault(letter, size) == size, (stage.name, letter)
    assert sizes["T"] == sizes["S"] == 7
    assert sizes["(H D)"] == sizes["H"] * sizes["D"]


def test_the_line_of_a_stage_holds_its_operation(model):
    for stage in walk(model, some_ids(3)):
        first = stage.name.rpartition(".")[2]
        wanted = {
            "embedding": "tokens(",
            "positions": "positions(",
            "norm": f"{first}(",
            "projection": f"self.{first}(",
            "feed_forward": f"self.{first}(",
            "heads": ".unflatten(-1, (3, self.num_heads",
            "scores": "q @ k",
            "mask": "masked_fill(",
            "softmax": ".softmax(",
            "mix": "weights @ v",
            "merge": ".flatten(2)",
            "activation": "gelu(",
            "residual": "= x + ",
            "logits": "self.head(",
        }[stage.kind]
        assert wanted in stage.source.text, (stage.name, stage.source)
        assert stage.source.file.startswith("core/models/")


def test_flops_are_those_that_torch_counts(model):
    ids = some_ids(11)
    counted = sum(stage.flops for stage in walk(model, ids))
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        model.logits(ids)
    assert counted == counter.get_total_flops()


def test_the_stages_of_a_gpt_stand_in_the_order_of_its_blocks():
    stages = walk(small_model("gpt"), some_ids(5))
    assert [each.name for each in stages[:2]] == ["embedding", "positions"]
    block = [each.name.removeprefix("blocks.1.") for each in stages if each.layer == 1]
    assert block == [
        "norm_1",
        *(f"attention.{each}" for each in ("qkv", "heads", "scores", "mask", "softmax", "mix")),
        *("attention.merge", "attention.out", "residual_1", "norm_2"),
        *("feed_forward.up", "feed_forward.activation", "feed_forward.out", "residual_2"),
    ]
    assert max(each.layer or 0 for each in stages) == SHAPE.num_layers - 1


def test_nothing_of_a_walk_keeps_the_model_alive():
    model = small_model("gpt")
    gone = weakref.ref(model.blocks[0].attention)
    walk(model, some_ids(3))
    del model
    gc.collect()
    assert gone() is None
