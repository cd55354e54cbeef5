"""A message of torch's is told apart from others that only look like it."""

from core.autograd.leaves import leaves_in
from core.autograd.program import capture_program
from pages.shared.start.torch_errors import error_of, load_torch_errors


def test_every_text_is_its_own_and_no_others():
    for error in load_torch_errors():
        told = [each.slug for each in load_torch_errors() if each.says(error.text)]
        assert told == [error.slug]


def test_other_numbers_and_a_traceback_round_it_change_nothing():
    for text, slug in [
        ("mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)", "matmul-shapes"),
        ('File "a.py", line 3\nIndexError: index 7 is out of bounds for dimension 1 with size 5',
         "index-out-of-bounds"),
        ("RuntimeError: shape '[2, -1]' is invalid for input of size 7", "shape-invalid"),
        ("expected m1 and m2 to have the same dtype, but got: c10::Half != float",
         "matmul-dtypes"),
        ("mat1 and mat2 must have the same dtype, but got Int and Half", "layer-dtype"),
    ]:  # fmt: skip
        assert error_of(text).slug == slug


def test_another_error_has_not_this_ones_reason():
    for text in [
        "mat1 and mat2 must have the same dtype, but got Half and Float",  # no integers
        "expected scalar type Half but found Float",
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
        "Attempting to unscale FP16 gradients.",
        "CUDA error: out of memory",
        "index out of range",
        "The size of tensor a must match the size of tensor b",
        "",
    ]:
        assert error_of(text) is None, text


def test_what_torch_refuses_on_a_graph_for_other_reasons_is_explained_there():
    leaves = leaves_in("w = [[1.0, 2.0], [3.0, 4.0]]; x = [1.0, 2.0]; k = [1, 2] (data); s = 2.0")
    for code, slug in {
        "F.embedding(torch.tensor([0, 2]), w)": "embedding-range",
        "x.half() @ w": "matmul-dtypes",
        "s @ s": "matmul-scalars",
        "w @ torch.ones(3)": "matrix-vector",
        "w @ torch.ones(3, 2)": "matmul-shapes",
        "w + torch.ones(3)": "broadcast",
        "y = x * 1\ny += w": "in-place-broadcast",
        "k += 0.5": "in-place-dtype",
        "x[0, 0]": "too-many-indices",
        "x[2]": "index-out-of-bounds",
        "x.view(5)": "shape-invalid",
        "w.t().view(4)": "view-not-compatible",
        "w.sum(dim=2)": "dimension-range",
        "F.cross_entropy(w, x)": "target-dtype",
        "F.cross_entropy(w, k)": "target-range",
        "k.mean()": "mean-of-integers",
        "y = x.expand(2, 2)\nz = y * 1\ntorch.ones(2).expand(2, 2).add_(1)": "write-into-expanded",
    }.items():
        failure = capture_program(code, leaves).error
        assert failure.kind != "ExpressionError", code
        found = error_of(failure.message)
        assert (found and found.slug) == slug, (code, failure.message)
