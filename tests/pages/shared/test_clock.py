"""Moments on the reader's own clock."""

from datetime import UTC, datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from pages.shared import clock

SUMMER, WINTER = (datetime(2026, month, 2, 22, 30, tzinfo=UTC).timestamp() for month in (7, 1))


@pytest.fixture
def browser(monkeypatch):
    """Return browser(zone, minutes_behind_utc): let a browser say where it is."""

    def tell(zone, offset=None):
        context = SimpleNamespace(timezone=zone, timezone_offset=offset)
        monkeypatch.setattr(clock.st, "context", context)

    return tell


@pytest.mark.parametrize(
    ("zone", "summer", "winter"),
    [
        ("Europe/Berlin", "2026-07-03 00:30:00", "2026-01-02 23:30:00"),
        ("Asia/Shanghai", "2026-07-03 06:30:00", "2026-01-03 06:30:00"),
        ("America/New_York", "2026-07-02 18:30:00", "2026-01-02 17:30:00"),
    ],
)
def test_a_moment_is_written_in_the_browsers_zone_of_that_day(browser, zone, summer, winter):
    browser(zone)
    here = clock.browser_zone()
    assert here == ZoneInfo(zone)
    assert [clock.local_time(moment, here) for moment in (SUMMER, WINTER)] == [summer, winter]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", ""])
def test_a_zone_that_is_not_known_here_gives_way_to_the_browsers_distance_from_utc(browser, zone):
    browser(zone, -480)
    assert clock.local_time(WINTER, clock.browser_zone()) == "2026-01-03 06:30:00"


def test_without_a_browser_it_is_utc_and_says_so(browser):
    browser(None)
    assert clock.local_time(WINTER, clock.browser_zone()) == "2026-01-02 22:30:00 UTC"
