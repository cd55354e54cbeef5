"""What Streamlit's own session does for each browser and we do otherwise; private names, only here.

Streamlit 1.67 opens an event loop for each session, for scripts that await something: a selector
and a pipe, three descriptors that a closed session keeps for two minutes. No page awaits anything.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, cast
from urllib.parse import parse_qs

from streamlit import runtime
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session, websocket_session_manager
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import ClientContext

# From a session, its client and its language to the sentence why no file is taken; "" if one is.
UploadRefusal = Callable[[str, ClientContext, str], str]


class _LoopOfNothing(asyncio.BaseEventLoop):
    """A loop without selector and pipe: it can be set, asked and closed, but not run."""


class Session(app_session.AppSession):
    """A session that holds no descriptor but its websocket, and may refuse a file in words."""

    upload_refusal: ClassVar[UploadRefusal]

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  Streamlit's own
        super().__init__(*args, **kwargs)
        self._script_event_loop.close()
        self._script_event_loop = _LoopOfNothing()

    def shutdown(self) -> None:
        self._script_event_loop.close()  # Streamlit would run it first, and it cannot run
        super().shutdown()

    def _handle_file_urls_request(self, file_urls_request: FileURLsRequest) -> None:
        client = runtime.get_instance().get_client(self.id)
        context = client.client_context if client else None
        language = parse_qs(self._client_state.query_string).get("lang", ["en"])[-1]
        refusal = type(self).upload_refusal(self.id, context, language) if context else ""
        if not refusal:
            super()._handle_file_urls_request(file_urls_request)
            return
        message = ForwardMsg()
        message.file_urls_response.response_id = file_urls_request.request_id
        message.file_urls_response.error_msg = refusal
        self._enqueue_forward_msg(message)


@contextmanager
def as_in_the_frame() -> Iterator[None]:
    """Let the widgets made inside be the same ones on every page, as those of the frame are.

    Streamlit gives each page widgets of its own, whatever their key: on the next page they would
    start at their defaults, and their settings would leave the address.
    """
    context = get_script_run_ctx()
    if context is None:
        yield
        return
    with context.run_with_active_hash(context.pages_manager.main_script_hash):
        yield


def install_sessions(upload_refusal: UploadRefusal) -> None:
    Session.upload_refusal = staticmethod(upload_refusal)
    setattr(websocket_session_manager, "AppSession", Session)  # noqa: B010  not exported


def stored_uploads() -> Mapping[str, Mapping[str, Any]]:
    """Return the files that readers have uploaded and that are still kept, by session."""
    manager = runtime.get_instance().uploaded_file_mgr
    return cast("MemoryUploadedFileManager", manager).file_storage
