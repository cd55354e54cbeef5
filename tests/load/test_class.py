"""A small class at once, in Streamlit's own messages: nobody sees another's numbers or language.

What it costs is measured in benchmarks/class_load.py; here only CPU time is held against a bound
that a page ten times too slow would break.
"""

import asyncio
import os

import psutil
import pytest

from benchmarks.streamlit_client import open_session
from core.train.start.plan import Wish, outline_run
from tests.browser.dashboard import in_a_thread, running_server, wait_until

NUM_SESSIONS, NUM_MOVES = 10, 5
LAYERS = (1, 2, 3, 4, 6, 8, 12)
MAX_CPU_MS = 250  # a move costs about 25 ms of CPU

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A dashboard of its own: (port, process)."""
    # CPU time is asked for below, and counting covered lines would cost ten times of it.
    uncounted = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    with running_server(tmp_path_factory.mktemp("load"), environment=uncounted) as started:
        yield started.port, psutil.Process(started.process.pid)


def headline(num_layers, language):
    """Return what the page must say, computed here."""
    outline = outline_run(Wish(changes={"num_layers": num_layers}))
    word = {"en": "parameters learn", "zh": "个参数，每步"}[language]
    return f"{outline.parameters.amount:,} {word}"


async def learn(port, number):
    """Be one student: move a slider of one's own, read one's own numbers in one's own language."""
    language, other = ("en", "zh") if number % 2 else ("zh", "en")
    mistakes = []
    async with open_session(port, page="live-run", query=f"lang={language}") as session:
        await session.run()
        for move in range(NUM_MOVES):
            layers = LAYERS[(number + move) % len(LAYERS)]
            await session.choose(
                "slider", "lr_layers_choice", string_array_value=[written(session, layers)]
            )
            if headline(layers, language) not in session.texts:
                mistakes.append(f"session {number}, {layers} layers: {session.texts[:400]}")
            if any(headline(each, other) in session.texts for each in LAYERS):
                mistakes.append(f"session {number} reads {other}")
            await asyncio.sleep(0.3)
        return mistakes + session.exceptions


def written(session, layers):
    """Return the option as the slider writes it."""
    options = session.find("slider", "lr_layers_choice").options
    return next(option for option in options if option == str(layers))


def test_no_session_sees_another_s_numbers_or_language(server):
    port, process = server

    async def a_class():
        return await asyncio.gather(*(learn(port, number) for number in range(NUM_SESSIONS)))

    before = sum(process.cpu_times()[:2])
    mistakes = [each for of_one in in_a_thread(a_class()) for each in of_one]
    spent = sum(process.cpu_times()[:2]) - before
    assert mistakes == []
    milliseconds = 1000 * spent / (NUM_SESSIONS * (NUM_MOVES + 1))
    assert milliseconds < MAX_CPU_MS, f"{milliseconds:.0f} ms of CPU a run of the script"


def test_a_hand_made_value_outside_the_options_is_the_first_of_them(server):
    async def scene():
        async with open_session(server[0], page="live-run") as session:
            await session.run()
            for value in ("1000000", "-1", "", "x" * 10_000, "../../etc"):
                await session.choose("slider", "lr_layers_choice", string_array_value=[value])
                assert headline(LAYERS[0], "en") in session.texts, value
            return session.exceptions

    assert in_a_thread(scene()) == []


def test_a_state_under_a_name_of_the_server_s_own_hurts_its_sender_only(server):
    from streamlit.proto.WidgetStates_pb2 import WidgetState

    async def scene():
        async with open_session(server[0], page="live-run") as other:
            await other.run()
            async with open_session(server[0], page="live-run") as session:
                await session.run()
                names = ("frame_copied_link", "frame_pin_error", "lr_own_run_followed")
                # Streamlit ends this session's run: it knows no input of such a name.
                await session.run(*(WidgetState(id=name, bool_value=True) for name in names))
            await other.run()
            assert headline(2, "en") in other.texts
            return other.exceptions

    assert in_a_thread(scene()) == []


def test_an_input_draws_its_page_and_not_the_frame_round_it(server):
    def told(session):
        (data,) = session.data_of("copy_link")
        return {each["name"]: each["value"] for each in data["settings"]}

    async def scene():
        async with open_session(server[0], page="serving", query="lang=zh") as session:
            await session.run()
            before, switches = told(session), session.find("button_group", "lang_choice")
            other = session.find("slider", "plan_context_length_choice").options[3]
            await session.choose("slider", "plan_context_length_choice", string_array_value=[other])
            assert session.find("button_group", "lang_choice") is switches, "drawn again"
            return before, told(session), session.exceptions

    before, after, exceptions = in_a_thread(scene())
    assert exceptions == []
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"plan_context_length"}, (
        "the link follows the input and keeps the frame's settings"
    )
    assert after["lang"] == "zh"


def test_closed_sessions_give_back_what_they_held(server):
    port, process = server

    async def scene():
        async with open_session(port, page="model-sizes") as session:
            await session.run()
        before = process.num_fds()
        for _number in range(20):
            async with open_session(port):
                pass
        return before

    # Streamlit's own sessions would hold sixty, for two minutes.
    before = in_a_thread(scene())
    wait_until(lambda: process.num_fds() < before + 10)
