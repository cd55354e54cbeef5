"""Uploaded files: how many, how many bytes, of whom; what is refused before it is read."""

import asyncio
from types import SimpleNamespace

import pytest

from pages.server import uploads as room
from pages.server.shares import ShareSpentError, Visitor
from pages.server.uploads import (
    BROWSER_BYTES,
    MAX_FILES,
    SESSION_BYTES,
    TEACHER_BYTES,
    TOTAL_BYTES,
    UploadBounds,
    Uploads,
)

MIB = 2**20


def visitor(address, browser="", *, teaches=False):
    return Visitor(address=address, browser=browser, teaches=teaches)


@pytest.fixture
def stored():
    """Files by session and name, as Streamlit keeps them."""
    return {}


def upload(uploads, stored, session, owner, size):
    """Send a file as far as it is let; return whether it was."""
    try:
        uploads.check(session, owner, size)
    except ShareSpentError:
        return False
    with uploads.coming(session, owner, size):
        files = stored.setdefault(session, {})
        files[len(files)] = SimpleNamespace(data=range(size))  # its length, without its bytes
    return True


def total(stored):
    return sum(len(file.data) for files in stored.values() for file in files.values())


def test_a_session_a_browser_an_address_and_all_together_have_an_end(stored):
    uploads = Uploads(lambda: stored)
    sent = [upload(uploads, stored, "small", visitor("a"), 1) for _file in range(30)]
    assert sum(sent) == MAX_FILES
    stored.clear()
    sent = [upload(uploads, stored, "large", visitor("a"), 5 * MIB) for _file in range(30)]
    assert (sum(sent), total(stored) <= SESSION_BYTES) == (3, True)
    for number in range(30):
        upload(uploads, stored, f"s{number}", visitor("a", "ann"), 5 * MIB)
    assert total({s: f for s, f in stored.items() if s != "large"}) <= BROWSER_BYTES
    for number in range(100):  # a hundred times 4.9 MB, fresh cookies, one address
        upload(uploads, stored, f"t{number}", visitor("a", f"cookie {number}"), 49 * MIB // 10)
    assert 2 * TOTAL_BYTES // 3 - 5 * MIB < total(stored) <= 2 * TOTAL_BYTES // 3
    assert upload(uploads, stored, "other", visitor("b"), 5 * MIB), "another address has room"
    for number in range(100):
        upload(uploads, stored, f"u{number}", visitor(f"c{number}"), 5 * MIB)
    assert TOTAL_BYTES - TEACHER_BYTES - 5 * MIB < total(stored) <= TOTAL_BYTES - TEACHER_BYTES
    assert upload(uploads, stored, "teacher", visitor("t", teaches=True), 5 * MIB)


def test_what_a_session_gives_back_is_free_again_and_nobody_is_remembered(stored):
    uploads = Uploads(lambda: stored)
    for _round in range(3):
        assert upload(uploads, stored, "s", visitor("a"), SESSION_BYTES)
        assert not upload(uploads, stored, "s", visitor("a"), 1)
        stored.clear()
    assert upload(uploads, stored, "t", visitor("a"), 1)
    assert set(uploads._owners) <= {"s", "t"}
    uploads.check("t", visitor("a"), 1)
    assert set(uploads._owners) == {"t"}


def test_files_on_their_way_count_and_what_is_over_is_not_even_read(stored, monkeypatch):
    uploads, gate, taken, answers = Uploads(lambda: stored), asyncio.Event(), [], []
    monkeypatch.setattr(room, "uploads", lambda: uploads)

    async def app(scope, _receive, _send):
        taken.append(scope["method"])
        await gate.wait()

    async def send(message):
        answers.append(message)

    def put(length, method="PUT"):
        raw = [(b"host", b"class")] + ([(b"content-length", length)] if length else [])
        path = "/_stcore/upload_file/s1/f1"
        scope = {"type": "http", "method": method, "path": path, "headers": raw}
        return UploadBounds(app)({**scope, "client": ("203.0.113.1", 1)}, None, send)

    async def scene():
        lengths = [
            b"5000000",
            b"5000000",
            b"",
            b"1000000000",
            b"9" * 5000,
        ]  # without a length: the largest
        tasks = [asyncio.create_task(put(length)) for length in lengths]
        tasks.append(asyncio.create_task(put(b"5000000")))
        tasks.append(asyncio.create_task(put(b"", "DELETE")))
        await asyncio.sleep(0.01)
        gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(scene())
    assert taken == ["PUT"] * 3 + ["DELETE"]
    assert [each["status"] for each in answers if "status" in each] == [413] * 3
    assert b"16 files and 16.0 MiB" in answers[1]["body"]
    assert uploads._coming == []
