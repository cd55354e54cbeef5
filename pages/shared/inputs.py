"""The inputs of a page: each lives in the address, can be hidden or locked, and writes a link.

`Inputs("lr").slider("layers", ...)` is the setting `lr_layers`. Streamlit binds a widget to the
address by its own value: a number, a text, on or off. Of a choice it would write the *label*,
which is translated: so an unseen text field under the setting's name is bound to the address and
holds the option's word, and the control that is seen has the key `lr_layers_choice`.
While two settings are compared, the inputs of the other one are read by the same calls, unseen.
"""
# ruff: noqa: PLR0913  an input has a name, a label, a range, a default and a help text
# ruff: noqa: A002  `help` is Streamlit's own name

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import streamlit as st

from core.language import _
from pages.shared import accepts, link, settings, sides
from pages.shared.accepts import Accepts

T = TypeVar("T")
N = TypeVar("N", int, float)
PLAN: Final = "plan"  # whose inputs all pages of Sizing share
_MAX_WORD: Final = 200


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of one page."""

    page: str  # the first part of every setting's name in the address: "lr". It is public.
    # Those that say how something is shown: they are the same for both sides of a comparison
    of_picture: Sequence[str] = ()

    def key(self, name: str) -> str:
        """Return a setting's name in the address, which is also the key of its widget."""
        return f"{self.page}_{name}"

    def used(self, name: str, default: str = "") -> str:
        """Return what an input was in this run or, if it comes later on the page, in the last."""
        if (side := sides.reading()) and (short := side.short(self.page, name)) in side.used:
            return str(side.used[short])
        return str(link.book().used.get(self.key(name), default))

    def set(self, name: str, value: object) -> None:
        """Write an input from a button or a click on a picture; a locked page stays as it is."""
        if not settings.locked():
            self.write(name, value)

    def write(self, name: str, value: object) -> None:
        """Write an input on a locked page too: it says what is explained, or the same otherwise."""
        key = self.key(name)
        is_choice = f"{key}_choice" in st.session_state
        st.session_state[key] = str(value) if is_choice else value

    def slider(
        self,
        name: str,
        label: str,
        low: N,
        high: N,
        *,
        default: N,
        step: N,
        help: str | None = None,
        disabled: bool = False,
    ) -> N:
        """Show a slider and return its number.

        The limits may follow another input: what the reader chose goes to the nearest end. With
        one stop there is nothing to slide: a sentence says so.
        """
        show: Callable[..., N] = partial(
            st.slider, label, low, high, default, step, help=help,
            bind="query-params", persist_state="session",
        )  # fmt: skip
        accepted = accepts.number_between(low, high, default)
        held = st.session_state.get(self.key(name))
        if isinstance(held, int | float) and not low <= held <= high:
            self._move_to_end(name, type(default)(min(max(held, low), high)))
        if low == high:
            show = partial(_only_one, label, str(default), default)
        return pick(self.page, name, accepted, show, disabled=disabled)

    def number(
        self,
        name: str,
        label: str,
        low: N,
        high: N,
        *,
        default: N,
        step: N,
        help: str | None = None,
        disabled: bool = False,
    ) -> N:
        """Show a field for a number, with buttons that step it, and return the number."""
        show = partial(
            st.number_input, label, low, high, default, step, help=help,
            bind="query-params", persist_state="session",
        )  # fmt: skip
        accepted = accepts.number_between(low, high, default)
        return pick(self.page, name, accepted, show, disabled=disabled)

    def toggle(
        self,
        name: str,
        label: str,
        *,
        default: bool,
        help: str | None = None,
        disabled: bool = False,
    ) -> bool:
        """Show an on/off switch and return whether it is on."""
        show = partial(
            st.toggle, label, default, help=help, bind="query-params", persist_state="session"
        )
        return pick(self.page, name, accepts.true_or_false(default), show, disabled=disabled)

    def text(
        self,
        name: str,
        label: str,
        *,
        default: str = "",
        max_chars: int = 200,
        height: int = 0,
        help: str | None = None,
        disabled: bool = False,
    ) -> str:
        """Show a field for one line of text or, `height` px tall, for several; return the text."""
        field = partial(st.text_area, height=height) if height else st.text_input
        show = partial(
            field, label, default, max_chars=max_chars, help=help,
            bind="query-params", persist_state="session",
        )  # fmt: skip
        accepted = accepts.text_up_to(max_chars, default)
        return pick(self.page, name, accepted, show, disabled=disabled)

    def file(self, name: str, label: str, megabytes: int, **more: Any) -> Any:  # noqa: ANN401
        """Return the file that lies there, in no link; `more` is what `st.file_uploader` takes."""
        key, drop = self.key(name), _("or drop it here, at most {size}")
        words = f'--choose: "{_("Choose a file")}"; --drop: "{drop.format(size=f"{megabytes} MB")}"'
        st.html(f"<style>.st-key-{key} {{ {words} }}</style>")  # Streamlit's own are English
        locked = settings.locked()
        return st.file_uploader(label, key=key, max_upload_size=megabytes, disabled=locked, **more)

    def select_slider(
        self,
        name: str,
        label: str,
        options: Sequence[T],
        *,
        default: T,
        labels: Callable[[T], str] = str,
        help: str | None = None,
        disabled: bool = False,
    ) -> T:
        """Show a slider over `options`; `labels` turns an option into the words shown.

        The options may follow another input: one that is gone gives way to the default.
        """
        accepted = accepts.one_of(options, default)
        held = st.session_state.get(self.key(name))
        if isinstance(held, str) and accepted.read(held) is None:
            self._move_to_end(name, accepted.write(default))
        if len(options) == 1:
            show = partial(_only_one, label, labels(default), default)
            return pick(self.page, name, accepted, show, disabled=disabled)
        draw = partial(st.select_slider, label, options, format_func=labels, help=help)
        stops = tuple(labels(option) for option in options)
        return self.choose(name, accepted, draw, disabled=disabled, stops=stops)

    def _move_to_end(self, name: str, end: object) -> None:
        """Bring what the reader chose before back to what is possible; no link has said it."""
        if sides.reading():
            return
        st.session_state[self.key(name)] = end
        link.settle(self.key(name), None)

    def segmented(
        self,
        name: str,
        label: str,
        options: Sequence[T] | Mapping[T, str],
        *,
        default: T,
        labels: Callable[[T], str] = str,
        help: str | None = None,
        disabled: bool = False,
    ) -> T:
        """Show `options` side by side, for up to five of them."""
        options, labels = _with_words(options, labels)
        draw = partial(
            st.segmented_control, label, options, format_func=labels, help=help, required=True
        )
        return self.choose(name, accepts.one_of(options, default), draw, disabled=disabled)

    def selectbox(
        self,
        name: str,
        label: str,
        options: Sequence[T] | Mapping[T, str],
        *,
        default: T,
        labels: Callable[[T], str] = str,
        help: str | None = None,
        disabled: bool = False,
    ) -> T:
        """Show `options` in a list that opens, for more than five of them."""
        options, labels = _with_words(options, labels)
        draw = partial(st.selectbox, label, options, format_func=labels, help=help)
        return self.choose(name, accepts.one_of(options, default), draw, disabled=disabled)

    def several(
        self,
        name: str,
        label: str,
        options: Sequence[str],
        *,
        default: tuple[str, ...],
        most: int,
        labels: Callable[[str], str] = str,
        help: str | None = None,
    ) -> tuple[str, ...]:
        """Show a list in which up to `most` options can be chosen; they keep the reader's order."""
        accepted: Accepts[Any] = accepts.some_of(options, default, most)  # a list in the session
        draw = partial(
            st.multiselect, label, options, max_selections=most, format_func=labels, help=help
        )
        return tuple(self.choose(name, accepted, draw))

    def choose(
        self,
        name: str,
        accepted: Accepts[T],
        draw: Callable[..., Any],
        *,
        disabled: bool = False,
        stops: tuple[str, ...] | None = None,
    ) -> T:
        """Return the chosen option; `draw` shows the control, which follows the unseen field.

        Of a select slider `stops` are the words it leads through.
        """

        def show(*, key: str, disabled: bool) -> T:
            chosen = accepted.read(_word(key, accepted))
            seen = f"{key}_choice"
            wanted = accepted.default if chosen is None else chosen
            if sides.is_unseen():
                return wanted
            start = {}
            if stops is None:
                st.session_state[seen] = wanted
            else:
                start = stand_at(seen, wanted, stops)
            option: T = draw(
                key=seen, disabled=disabled, on_change=_write_word, args=(key, accepted), **start
            )
            return option

        return pick(self.page, name, accepted, show, disabled=disabled, kept=accepted.write)


def _with_words(
    options: Sequence[T] | Mapping[T, str], labels: Callable[[T], str]
) -> tuple[Sequence[T], Callable[[T], str]]:
    """Return options and what shows each: of a mapping, its words in the reader's language."""
    if isinstance(options, Mapping):
        return tuple(options), lambda option: _(options[option])
    return options, labels


def stand_at(key: str, option: object, stops: tuple[str, ...]) -> dict[str, Any]:
    """Let a select slider stand at an option; return what its call takes besides.

    What is written to the session comes to the browser as an order. A picture that comes late
    would order the slider back to where it was when the picture was asked for, from under the
    hand that has moved it on: so it is written only where the slider does not stand there.
    """
    before = link.book().stops.get(key)
    link.book().stops[key] = stops
    if before == stops and key in st.session_state and st.session_state[key] == option:
        return {"value": option}  # for a browser that has not drawn it yet
    st.session_state[key] = option
    return {}


def _only_one(label: str, shown: str, only: T, **_widget: object) -> T:
    st.caption(_("{label}: {only}, the only choice here").format(label=label, only=shown))
    return only


def pick(
    page: str,
    name: str,
    accepted: Accepts[T],
    show: Callable[..., T],
    *,
    disabled: bool = False,
    kept: Callable[[T], object] | None = None,
) -> T:
    """Return the value of an input, which is shown unless a link hides it.

    A value of the address that is not `accepted` is named by the frame. `show` draws the control,
    given Streamlit's `key` and `disabled`; the session keeps what `kept` makes of the value.
    """
    if side := sides.reading():
        return side.take(page, name, accepted)
    key = f"{page}_{name}"
    raw = link.raw_value(key)
    asked = None if raw is None else accepted.read(raw)
    if raw is not None and accepted.is_number and (asked is None or link.is_repeated(key)):
        link.settle(key, None if asked is None else raw)
    if asked is not None:
        held = asked if kept is None else kept(asked)
        # Streamlit drops a default from the address and then keeps what the session had before:
        # a link that says "3" would open on 7. Only a link ever writes a default out.
        if asked == accepted.default or _is_news(key, raw, held):
            st.session_state[key] = held
    elif raw is None and page == PLAN and link.book().switched and key in link.book().used:
        # A menu has left the address without the plan: it returns.
        value = _last_used(key, accepted)
        st.session_state[key] = value if kept is None else kept(value)
    visible = not settings.is_hidden(page, name)
    if visible:
        at_default = _needs_no_field(key, raw, accepted, kept)
        used = (
            accepted.default
            if at_default
            else show(key=key, disabled=disabled or settings.locked())
        )
    else:
        used = asked if asked is not None else _last_used(key, accepted)
    notes = link.book()
    notes.used[key], notes.known[key] = used, (raw, st.session_state.get(key))
    written = accepted.write(used)
    link.register(key, written, default=accepted.write(accepted.default), visible=visible)
    notes.holds[key] = partial(_hold, accepted, kept)
    if raw is not None and asked is None:
        link.refuse(key, raw, allowed=accepted.allowed(), used=written)
    return used


def _needs_no_field(
    key: str, raw: str | None, accepted: Accepts[T], kept: Callable[[T], object] | None
) -> bool:
    """Return whether an input out of sight is at its default: each field costs a millisecond."""
    default = accepted.default if kept is None else kept(accepted.default)
    return sides.is_unseen() and raw is None and st.session_state.get(key, default) == default


def _is_news(key: str, raw: str | None, held: object) -> bool:
    """Return whether a link says what no run has read yet, and the reader has not moved the input.

    Streamlit reads a link in the first run that it starts; a click that ends this run before it
    comes to the input would leave the input as it was, and take the link's word out of the address.
    """
    known_raw, known_value = link.book().known.get(key, (raw, None))
    return bool(raw != known_raw and st.session_state.get(key) == known_value != held)


def _hold(accepted: Accepts[T], kept: Callable[[T], object] | None, text: str) -> object:
    """Return what the session holds for a value of the address; its default if not accepted."""
    value = accepted.read(text)
    value = accepted.default if value is None else value
    return value if kept is None else kept(value)


def _last_used(key: str, accepted: Accepts[T]) -> T:
    """Return what a hidden input was when it was last seen or set by a link."""
    used: T = link.book().used.get(key, accepted.default)
    return used


def _word(key: str, accepted: Accepts[T]) -> str:
    """Show the text field that the style of the frame hides, and return the word that it holds."""
    return st.text_input(
        key,
        accepted.write(accepted.default),
        key=key,
        max_chars=_MAX_WORD,
        label_visibility="collapsed",
        placeholder="unseen",
        bind="query-params",
        persist_state="session",
        on_change=_keep_word,
        args=(key, accepted),
    )


def _keep_word(key: str, accepted: Accepts[Any]) -> None:
    """Keep what the seen control says: nobody types into the unseen field.

    A browser that has not drawn the last click yet sends the field's word from before it with the
    next one. A link's word is no such: with it the address has changed, and nothing was clicked.
    """
    raw, notes = link.raw_value(key), link.book()
    if f"{key}_choice" not in st.session_state:
        return
    word = accepted.write(st.session_state[f"{key}_choice"])
    notes.overtaken[key] = word
    if notes.known.get(key, (raw,))[0] == raw:
        st.session_state[key] = word


def _write_word(key: str, accepted: Accepts[Any]) -> None:
    """Bring a click on the visible control to the text field that the address is bound to."""
    st.session_state[key] = accepted.write(st.session_state[f"{key}_choice"])
    link.book().clicked = True
