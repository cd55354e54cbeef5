"""Opens the dashboard for a class: `make class`, or on Windows `python classroom.py`.

Only starts Streamlit with the options of a class: one address that others can reach, and no other
Host. The server itself then asks for the teacher's PIN (pages/server/classroom.py).
"""

import argparse
import os
import runpy
import sys
from pathlib import Path

from core.machine.network import choose_class_address

ROOT = Path(__file__).parent


def streamlit_options(address: str, port: str, *, headless: bool) -> list[str]:
    """Return the command line for Streamlit."""
    options = ["run", str(ROOT / "app.py"), f"--server.address={address}"]
    options += [f"--browser.serverAddress={address}"]
    options += [f"--server.allowedHosts={host}" for host in ("localhost", "127.0.0.1", address)]
    options += [f"--server.port={port}"] if port else []
    return options + (["--server.headless=true"] if headless else [])


def main() -> None:
    """Choose the address and become the server."""
    parser = argparse.ArgumentParser(prog="python classroom.py", description=__doc__)
    parser.add_argument("--address", default=os.environ.get("ADDRESS", ""))
    parser.add_argument("--port", default="")
    parser.add_argument("--headless", action="store_true", help="do not open a browser here")
    chosen = parser.parse_args()
    try:
        address = choose_class_address(chosen.address)
    except ValueError as error:
        sys.exit(str(error))
    os.chdir(ROOT)  # Streamlit looks for its config.toml here
    sys.argv = ["streamlit", *streamlit_options(address, chosen.port, headless=chosen.headless)]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
