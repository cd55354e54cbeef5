"""Old links to what stood on Home: the cards about the machine have a page of their own now.

Why apart: it knows what addresses once meant; `guard`, which lists it, says who may ask.
"""

from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.server.first_look import asks_for_a_page
from pages.shared.navigation import PAGES, page_row

_CARD: Final = "home_card"
_TABS: Final = {"environment": "machine", "stack": "stack", "install": "install"}
"""What the address called a card -> its tab now."""
_SETTINGS: Final = {"home_system": "machine_system", "home_build": "machine_build"}
_HOME: Final = ("/", f"/{PAGES[0].address}")


class MovedLinks:
    """Lead a browser from the old address of a card to the new one; all else passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the new address, or pass the request on."""
        address = moved(scope) if asks_for_a_page(scope) else ""
        if address:
            await RedirectResponse(address)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def moved(scope: Scope) -> str:
    """Return where an old link leads; "" for one that is not old."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if scope["path"] not in _HOME or not {_CARD, *_SETTINGS}.intersection(dict(query)):
        return ""
    tab = _TABS.get(dict(query).get(_CARD, ""))
    others = [pair for pair in query if pair[0] not in (_CARD, *_SETTINGS)]
    if tab is None:  # a closed card is Home itself
        return f"{scope['path']}?{urlencode(others)}" if others else scope["path"]
    kept = [pair for pair in others if not pair[0].startswith("home_")]
    own = [(_SETTINGS[name], value) for name, value in query if name in _SETTINGS]
    new = [("machine_tab", tab), *(own if tab == "install" else []), *kept]
    return f"/{page_row('start/machine').address}?{urlencode(new)}"
