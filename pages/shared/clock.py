"""The reader's clock: moments are kept in UTC and written in the time zone of the browser."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def browser_zone() -> tzinfo:
    """Return the zone that the browser tells; UTC where there is none to ask.

    A machine without a table of zones takes the browser's distance from UTC of today.
    """
    name, minutes_behind = st.context.timezone, st.context.timezone_offset
    if name:
        with suppress(ZoneInfoNotFoundError, ValueError):  # a name that this machine does not know
            return ZoneInfo(name)
    if minutes_behind is None:
        return UTC
    return timezone(timedelta(minutes=-minutes_behind))


def local_time(moment: float, zone: tzinfo) -> str:
    """Return a moment (unix seconds) to the second; UTC says that it is, local time needs no name.

    >>> local_time(0.0, UTC), local_time(0.0, timezone(timedelta(hours=8)))
    ('1970-01-01 00:00:00 UTC', '1970-01-01 08:00:00')
    """
    written = datetime.fromtimestamp(moment, zone).strftime("%Y-%m-%d %H:%M:%S")
    return f"{written} UTC" if zone is UTC else written
