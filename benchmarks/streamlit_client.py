"""A reader of the dashboard without a browser: Streamlit's own messages over a websocket.

Real browsers do not come in thirties on two cores; this costs about a millisecond a click.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

MAX_SECONDS = 60.0
# A run of the script, or of a part, that came to its end; not one that was cut short.
_WHOLE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass(kw_only=True)
class Session:
    """One open session."""

    socket: websockets.ClientConnection
    page: str = ""  # the page's word in the address; empty for Home
    query: str = ""  # what stands behind the question mark
    # What the runs of the script have drawn, by delta path: (kind, message)
    elements: dict[tuple[int, ...], tuple[str, Any]] = field(default_factory=dict)
    # The state of the inputs, as a browser would send it with every run
    widgets: dict[str, WidgetState] = field(default_factory=dict)
    # Which part of the script draws an element, by delta path; "" if all of it does
    fragments: dict[tuple[int, ...], str] = field(default_factory=dict)
    exceptions: list[str] = field(default_factory=list)  # messages of exceptions that a run showed
    num_bytes: int = 0

    async def run(self, *once: WidgetState, fragment: str = "") -> float:
        """Ask for a run of the script, or of a fragment, and wait for its end; return its seconds.

        `once` are states that are sent with this run only: a button, a trigger.
        """
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name = self.query, self.page
        state.fragment_id = fragment
        state.widget_states.widgets.extend([*self.widgets.values(), *once])
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(MAX_SECONDS):
            while not self._take(await self.socket.recv()):
                pass
        return time.perf_counter() - began

    def _take(self, data: bytes | str) -> bool:
        """Note one message; return whether it ends a run of the script that was not cut short."""
        message = ForwardMsg()
        message.ParseFromString(data if isinstance(data, bytes) else data.encode())
        self.num_bytes += len(data)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._forget(message.metadata.run.fragment_ids)
        elif kind == "delta":
            path = tuple(message.metadata.delta_path)
            self.fragments[path] = message.delta.fragment_id
            self._note(path, message.delta)
        return kind == "script_finished" and message.script_finished in _WHOLE

    def _forget(self, fragments: Sequence[str]) -> None:
        """Forget what the run that begins draws anew: everything, or what stands in these parts."""
        roots = [self._root_of(each) for each in fragments] or [()]
        for path in list(self.elements):
            if any(path[: len(root)] == root for root in roots):
                del self.elements[path]

    def _root_of(self, fragment: str) -> tuple[int, ...]:
        return min((path for path, each in self.fragments.items() if each == fragment), key=len)

    def _note(self, path: tuple[int, ...], delta: Any) -> None:  # noqa: ANN401  a protobuf
        if delta.WhichOneof("type") == "new_element":
            self._draw(path, delta.new_element)
        elif delta.WhichOneof("type") == "add_block" and delta.add_block.HasField("expandable"):
            self.elements[path] = ("expandable", delta.add_block.expandable)

    def _draw(self, path: tuple[int, ...], element: Any) -> None:  # noqa: ANN401  a protobuf
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind)
        self.elements[path] = (kind, drawn)
        if kind == "exception":
            self.exceptions.append(drawn.message)

    def all(self, kind: str) -> list[Any]:
        """Return the messages of every element of a kind."""
        return [drawn for each, drawn in self.elements.values() if each == kind]

    def find(self, kind: str, key: str) -> Any:  # noqa: ANN401  a protobuf
        """Return the element of that kind and key.

        Raises:
            LookupError: If the last run drew none.
        """
        for drawn in self.all(kind):
            if drawn.id.endswith(f"-{key}"):
                return drawn
        raise LookupError(f"no {kind} of key {key}; there are {[e.id for e in self.all(kind)]}")

    @property
    def texts(self) -> str:
        """All that is written on the page."""
        written = [each.body for kind in ("markdown", "html") for each in self.all(kind)]
        written += [each.label for each in self.all("expandable")]
        return "\n".join([*written, *(each.body for each in self.all("alert"))])

    async def choose(self, kind: str, key: str, **value: Any) -> float:  # noqa: ANN401
        """Move an input and run; return the seconds.

        `value` is the field of `WidgetState` and what it becomes: `string_value="zh"`.
        """
        widget = self.find(kind, key).id
        self.widgets[widget] = _state(widget, value)
        return await self.run(fragment=self._fragment_of(widget))

    def _fragment_of(self, widget: str) -> str:
        """Return which part of the script a widget belongs to, as a browser would say it."""
        for path, (_kind, drawn) in self.elements.items():
            if getattr(drawn, "id", "") == widget:
                return self.fragments[path]
        return ""

    async def press(self, key: str) -> float:
        """Press a button, greyed or not, and run; return the seconds."""
        button = self.find("button", key).id
        state = WidgetState(id=button, trigger_value=True)
        return await self.run(state, fragment=self._fragment_of(button))

    async def trigger(self, component: str, event: str, value: Mapping[str, Any]) -> float:
        """Let a browser part say something, and run; return the seconds."""
        mounted = next(e for e in self.all("bidi_component") if e.component_name == component)
        self.widgets.setdefault(mounted.id, WidgetState(id=mounted.id, json_value="{}"))
        widget = f"$$STREAMLIT_INTERNAL_KEY_{mounted.id}__events"
        said = json.dumps([{"event": event, "value": value}])
        state = WidgetState(id=widget, json_trigger_value=said)
        return await self.run(state, fragment=self._fragment_of(mounted.id))

    def data_of(self, component: str) -> Any:  # noqa: ANN401  a dict or a list
        """Return what Python gave a browser part."""
        mounted = next(e for e in self.all("bidi_component") if e.component_name == component)
        return json.loads(mounted.json or mounted.mixed.json)


def _state(widget: str, value: Mapping[str, Any]) -> WidgetState:
    state = WidgetState(id=widget)
    for name, content in value.items():
        if name.endswith("array_value"):
            getattr(state, name).data.extend(content)
        else:
            setattr(state, name, content)
    return state


@asynccontextmanager
async def open_session(
    port: int,
    *,
    host: str = "127.0.0.1",
    source: str = "127.0.0.1",
    page: str = "",
    query: str = "",
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[Session]:
    """Open a session from the address `source` at `host`; the script has not run yet."""
    async with websockets.connect(
        f"ws://{host}:{port}/_stcore/stream",
        origin=websockets.Origin(f"http://{host}:{port}"),
        subprotocols=[websockets.Subprotocol("streamlit")],
        additional_headers=headers,
        local_addr=(source, 0),
        max_size=None,
        proxy=None,
    ) as socket:
        yield Session(socket=socket, page=page, query=query)
