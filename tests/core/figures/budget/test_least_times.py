from core.figures.budget.least_times import Least, Mark, least_times_picture
from core.figures.picture import Look

BARS = [
    Least(name="host", color="backward", seconds={"H100": 0.25, "T4": 1.0}),
    Least(name="own", color="forward", seconds={"H100": 0.005}),
]
MARKS = [Mark(name="claimed", color="refused", symbol="star", seconds={"H100": 5e-5})]


def test_bars_and_marks_are_seconds_on_powers_of_ten():
    figure = least_times_picture(BARS, MARKS, Look()).figure
    host, own, claimed = figure.data
    assert dict(zip(host.y, host.x, strict=True)) == BARS[0].seconds
    assert list(own.x) == [0.005]
    assert list(claimed.x) == [5e-5]
    assert figure.layout.xaxis.type == "log"
    low, high = figure.layout.xaxis.range
    assert 10**low < 5e-5
    assert 10**high > 1.0
