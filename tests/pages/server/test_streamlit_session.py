"""The canary of Streamlit's private names: what our sessions stand on is still there."""

import asyncio
from types import SimpleNamespace
from unittest.mock import MagicMock

import psutil
import pytest
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.runtime import app_session, runtime, websocket_session_manager
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.server.streamlit_session import Session, install_sessions, stored_uploads


@pytest.fixture
def installed(monkeypatch):
    """A runtime that knows one client, and our sessions in the place of Streamlit's."""
    assert websocket_session_manager.AppSession is app_session.AppSession
    monkeypatch.setattr(websocket_session_manager, "AppSession", app_session.AppSession)
    monkeypatch.setattr(Session, "upload_refusal", None, raising=False)
    client = SimpleNamespace(client_context=SimpleNamespace(remote_ip="203.0.113.1"))
    manager = MemoryUploadedFileManager("/upload")
    stand_in = MagicMock(get_client=lambda _session: client, uploaded_file_mgr=manager)
    monkeypatch.setattr(runtime.Runtime, "_instance", stand_in)
    install_sessions(lambda _session, who, language: f"{who.remote_ip} {language}: full")
    return manager


def new_session(manager, told):
    made = websocket_session_manager.AppSession(
        script_data=ScriptData("script.py", is_hello=False),
        uploaded_file_manager=manager,
        script_cache=ScriptCache(),
        message_enqueued_callback=told,
        user_info={},
    )
    assert type(made) is Session
    return made


def test_sessions_hold_no_descriptors_and_end_without_running_their_loop(installed):
    process = psutil.Process()

    async def scene():
        before = process.num_fds()
        sessions = [new_session(installed, lambda: None) for _number in range(20)]
        held = process.num_fds() - before
        loops = [each._script_event_loop for each in sessions]
        assert not any(loop.is_closed() for loop in loops), "a closed one Streamlit would replace"
        await asyncio.to_thread(sessions[0].shutdown)  # as a collector's thread would
        for each in sessions[1:]:
            each.shutdown()
        return held, loops

    held, loops = asyncio.run(scene())
    assert held == 0
    assert all(loop.is_closed() for loop in loops)


def test_a_session_of_streamlit_s_own_holds_three(installed):
    """Where this fails, `Session` may not be needed any more."""
    process = psutil.Process()

    async def scene():
        before = process.num_fds()
        kept = app_session.AppSession(
            ScriptData("script.py", is_hello=False), installed, ScriptCache(), None, {}
        )
        held = process.num_fds() - before
        kept.shutdown()
        return held

    assert asyncio.run(scene()) == 3


def test_a_file_is_refused_in_words_before_it_is_sent(installed):
    async def scene():
        session = new_session(installed, lambda: None)
        session._client_state.query_string = "tab=file&lang=zh"
        session._handle_file_urls_request(FileURLsRequest(request_id="7", file_names=["a.npy"]))
        Session.upload_refusal = staticmethod(lambda *_asked: "")
        session._handle_file_urls_request(FileURLsRequest(request_id="8", file_names=["b.npy"]))
        return [each.file_urls_response for each in session.flush_browser_queue()]

    refused, taken = asyncio.run(scene())
    assert (refused.response_id, refused.error_msg) == ("7", "203.0.113.1 zh: full")
    assert (taken.response_id, len(taken.file_urls), taken.error_msg) == ("8", 1, "")


def test_stored_files_are_those_of_the_manager(installed):
    installed.add_file("s", UploadedFileRec(file_id="f", name="a", type="", data=b"123"))
    assert [len(file.data) for file in stored_uploads()["s"].values()] == [3]
