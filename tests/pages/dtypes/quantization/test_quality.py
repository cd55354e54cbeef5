"""Labels keep their distance, stay inside and near to where they want to be."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pages.dtypes.quantization.quality import spread_labels


def test_labels_that_do_not_touch_stay_where_they_are():
    assert spread_labels([30.0, 10.0, 20.0], 0.0, 50.0, 2.0) == [30.0, 10.0, 20.0]


@given(st.lists(st.floats(-10, 60), max_size=20))
def test_no_label_covers_another_and_their_order_is_kept(heights):
    places = spread_labels(heights, 0.0, 50.0, 2.0)

    ordered = sorted(places)
    assert len(places) == len(heights)
    assert all(gap >= 2.0 - 1e-9 for gap in np.diff(ordered))
    assert all(1.0 - 1e-9 <= place <= 49.0 + 1e-9 for place in places)
    for first, second in zip(np.argsort(heights, kind="stable"), np.argsort(places), strict=True):
        assert first == second
