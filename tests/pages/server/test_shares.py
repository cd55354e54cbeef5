"""What one address and one browser may hold, what only a teacher may, and who counts as one."""

import pytest

from pages.server import control_right
from pages.server.browser import COOKIE, browsers
from pages.server.classroom import classroom
from pages.server.shares import Shares, ShareSpentError, visitor_in

PIN = "246810"


@pytest.fixture
def teacher_s_cookie(monkeypatch):
    """The cookie of a browser that gave the PIN."""
    monkeypatch.setenv("B2G_TEACHER_PIN", PIN)
    classroom.clear()
    cookie = browsers().new_cookie()
    classroom().admit(PIN, browser=browsers().read(cookie), address="203.0.113.9")
    yield cookie
    classroom.clear()


def visitor(address, cookie="", **headers):
    """Return who asks from that address."""
    said = {"host": "class", **headers}
    headers = {name.replace("_", "-"): value for name, value in said.items()}
    return control_right.visitor(address, headers, {COOKIE: cookie})


def fill(shares, visitor):
    """Hold as much as the visitor can get, and return how much that was and why it ended."""
    for number in range(1000):
        try:
            shares.check(visitor)
        except ShareSpentError as error:
            return number, str(error)
        shares.add(visitor, 1)
    raise AssertionError("no end")


def test_cookies_addresses_and_all_together_end_before_the_teachers_part(teacher_s_cookie):
    shares = Shares(90, of_browser=8, reserve=10)
    one = browsers().new_cookie()
    assert fill(shares, visitor("203.0.113.1", one)) == (
        8,
        "All 8 places for this browser are taken: close one of its pages.",
    )
    # Edited cookies are no browser's: the address counts, and so it does for fresh ones.
    num, why = fill(shares, visitor("203.0.113.1", one + "x"))
    assert (num, why) == (52, "All 60 places for your address are taken: try again later.")
    assert fill(shares, visitor("203.0.113.1", browsers().new_cookie()))[0] == 0
    assert fill(shares, visitor("203.0.113.2")) == (
        20,
        "All 80 places are taken: try again later.",
    )
    assert fill(shares, visitor("203.0.113.1", teacher_s_cookie))[0] == 10
    assert fill(shares, visitor("127.0.0.1")) == (0, "All 90 places are taken: try again later.")


def test_what_is_given_back_is_free_again_and_nobody_is_remembered():
    shares = Shares(3, of_browser=1, reserve=1)
    who = visitor("203.0.113.1", browsers().new_cookie())
    for _again in range(3):
        with shares.held(who):
            assert shares._held[""] == 1
            with pytest.raises(ShareSpentError, match="for this browser"):
                shares.check(who)
    assert not shares._held


def test_only_this_computer_and_the_pin_make_a_teacher(teacher_s_cookie):
    assert visitor("127.0.0.1").teaches
    assert visitor("203.0.113.1", teacher_s_cookie).teaches
    for other in (
        visitor("203.0.113.1", browsers().new_cookie()),
        visitor("127.0.0.1", x_forwarded_for="127.0.0.1"),
        visitor("127.0.0.2"),
        visitor(""),
    ):
        assert not other.teaches, other
    networks = {visitor(f"2001:db8::{each}").address for each in range(1, 9)}
    assert networks == {"2001:db8::/64"}, "of IPv6 the part that one cannot choose"
    assert visitor_in({"client": ("127.0.0.1", 1)}).teaches
    assert not visitor_in({"client": None}).teaches, "where nothing guards"
