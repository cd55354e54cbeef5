"""Six digits, five tries, then a pause that grows."""

import threading

import pytest

from pages.server.teacher_pin import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    MAX_COUNTED,
    TeacherPin,
    WrongPinError,
    counted_address,
    new_pin,
)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pin(clock):
    return TeacherPin("123456", clock)


def fail(pin, times, who=""):
    for _ in range(times):
        with pytest.raises(WrongPinError, match="PIN"):
            pin.check("000000", who)


def test_a_made_pin_is_six_digits_and_not_always_the_same():
    pins = {new_pin() for _ in range(50)}
    assert len(pins) > 40
    assert all(len(pin) == 6 and pin.isdecimal() for pin in pins)


@pytest.mark.parametrize("given", ["12345", "1234567", "12345x", "１２３４５６", " 12345"])
def test_a_chosen_pin_must_be_six_digits(given):
    with pytest.raises(ValueError, match="must be 6 digits"):
        TeacherPin(given)


def test_the_right_pin_is_let_through(pin):
    pin.check("123456")
    pin.check(" 123456\n")


@pytest.mark.parametrize("given", ["", "12345", "1234567", "１２３４５６", "é" * 10_000])
def test_anything_else_is_refused_and_counted(pin, given):
    with pytest.raises(WrongPinError, match="Tries left: 4"):
        pin.check(given)


def test_the_fifth_wrong_try_pauses_even_the_right_pin(pin, clock):
    fail(pin, 4)
    with pytest.raises(WrongPinError, match=r"Too many wrong PINs from your address.*30\.0 s"):
        pin.check("000000")
    clock.now += FIRST_PAUSE - 1
    with pytest.raises(WrongPinError, match="Too many wrong PINs"):
        pin.check("123456")
    clock.now += 1
    pin.check("123456")


def test_each_further_wrong_try_doubles_the_pause_up_to_an_hour(pin, clock):
    fail(pin, 5)
    pauses = [FIRST_PAUSE]
    for _ in range(10):
        clock.now += pauses[-1] - 1
        fail(pin, 1)  # a try during the pause neither counts nor lengthens it
        clock.now += 1
        fail(pin, 1)
        pauses.append(pin._tries[""].next_try - clock.now)
    assert pauses[:5] == [30, 60, 120, 240, 480]
    assert pauses[-1] == LONGEST_PAUSE


def test_the_right_pin_forgives_the_wrong_ones(pin):
    fail(pin, 4)
    pin.check("123456")
    fail(pin, 4)
    pin.check("123456")


def test_wrong_pins_of_one_address_pause_no_other(pin):
    fail(pin, 5, "10.0.0.7")
    with pytest.raises(WrongPinError, match="Too many wrong PINs"):
        pin.check("123456", "10.0.0.7")
    pin.check("123456", "10.0.0.8")
    with pytest.raises(WrongPinError, match="Too many wrong PINs"):
        pin.check("123456", "10.0.0.7")  # the right one of another forgives nobody here


def test_guesses_from_ever_new_addresses_are_remembered_up_to_a_bound(pin):
    fail(pin, 5, "first")
    for number in range(MAX_COUNTED - 1):
        fail(pin, 1, f"address {number}")
    with pytest.raises(WrongPinError, match="Too many wrong PINs"):
        pin.check("123456", "first")
    for number in range(MAX_COUNTED):
        fail(pin, 1, f"other {number}")
    assert len(pin._tries) == MAX_COUNTED


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.168.1.7", "192.168.1.7"),
        ("::ffff:192.168.1.7", "192.168.1.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("no address", "no address"),
    ],
)
def test_tries_are_counted_for_the_part_of_an_address_that_a_guesser_cannot_choose(
    address, counted
):
    assert counted_address(address) == counted


def test_many_at_once_do_not_get_more_tries(pin):
    sentences = []

    def guess():
        try:
            pin.check("999999")
        except WrongPinError as error:
            sentences.append(str(error))

    threads = [threading.Thread(target=guess) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("Tries left" in each for each in sentences) == 4
