"""Where the elements of a copy lie: in row order, or in the order of what was copied."""

from dataclasses import replace

from core.tensors.layout import Layout, contiguous_strides


def fresh(x: Layout) -> Layout:
    """Return the layout of a copy in row order."""
    return replace(
        x,
        stride=contiguous_strides(x.shape),
        offset=0,
        storage_bytes=x.num_bytes,
    )


def cloned(x: Layout) -> Layout:
    """Return the layout of a copy as `clone` makes it: gaps are closed, the order is kept.

    A tensor that fills its storage once keeps its strides as they are.
    """
    if _is_dense(x):
        return replace(fresh(x), stride=x.stride)
    strides, step = [1] * x.ndim, 1
    for dim in _by_stride(x):
        strides[dim] = step
        step *= max(x.shape[dim], 1)
    return replace(fresh(x), stride=tuple(strides))


def _is_dense(x: Layout) -> bool:
    """Whether the elements fill a stretch of storage once, in some order of the dimensions."""
    if x.is_contiguous:
        return True
    expected = 1
    for step, length in sorted(zip(x.stride, x.shape, strict=True)):
        if length == 1:
            continue
        if step != expected:
            return False
        expected *= length
    return True


def _by_stride(x: Layout) -> list[int]:
    """Return the dimensions from the smallest stride to the largest, as torch sorts them.

    A stride of 0 says nothing and leaves its dimension where it stands, last ones first
    (aten/src/ATen/ExpandUtils.cpp, infer_dense_strides).
    """
    order = list(range(x.ndim))[::-1]
    for end in range(1, x.ndim):
        place = end
        for before in reversed(range(end)):
            left, right = order[before], order[place]
            if 0 in {x.stride[left], x.stride[right]}:
                continue
            if (x.stride[left], x.shape[left]) <= (x.stride[right], x.shape[right]):
                if x.stride[left] < x.stride[right]:
                    break
                continue
            order[before], order[place] = right, left
            place = before
    return order
