"""Run the application on the reference server of the standard library."""

import argparse
import logging
from pathlib import Path
from wsgiref.simple_server import make_server

from quayside.app import DocsApp
from quayside.config import load_settings


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="quayside", description=__doc__)
    parser.add_argument("settings", type=Path, help="a quayside.toml")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args(argv)

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    app = DocsApp(load_settings(options.settings))
    with make_server(options.host, options.port, app) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
