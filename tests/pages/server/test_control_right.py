"""Who is on the server's own computer, and who only seems to be."""

import pytest

from core.machine.network import own_addresses
from pages.server import control_right
from pages.server.control_right import peer_of

CONNECTED = {"Host": "127.0.0.1:8501"}


@pytest.mark.parametrize("address", [None, "127.0.0.1", "::1", *sorted(own_addresses())])
def test_a_connection_from_an_address_of_this_computer_is_here(address):
    assert peer_of(address, CONNECTED).is_here


@pytest.mark.parametrize("address", ["127.0.0.2", "192.0.2.77", "fe80::1234", "", "localhost"])
def test_every_other_address_is_elsewhere_unless_streamlit_names_none(address):
    assert peer_of(address, CONNECTED).is_here is (address == "")


@pytest.mark.parametrize("address", [None, "127.0.0.1"])
def test_without_a_connection_nobody_is_here(address):
    # Streamlit's None means 127.0.0.1 and "no connection" alike.
    assert not peer_of(address, {}).is_here


@pytest.mark.parametrize(
    "name", ["X-Forwarded-For", "x-forwarded-for", "Forwarded", "X-Real-Ip", "Via"]
)
@pytest.mark.parametrize("address", [None, "127.0.0.1"])
def test_behind_a_proxy_nobody_is_here_whatever_the_header_says(address, name):
    peer = peer_of(address, {**CONNECTED, name: "127.0.0.1"})
    assert (peer.is_here, peer.proxied) == (False, True)


def test_outside_a_session_of_a_server_for_this_computer_all_is_allowed():
    assert control_right.is_teacher()
    control_right.check_control("20260102t030405z-any-00ff")
