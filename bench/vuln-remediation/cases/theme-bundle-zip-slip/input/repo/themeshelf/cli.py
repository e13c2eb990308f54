"""The command line."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from themeshelf.errors import ThemeshelfError
from themeshelf.shelf import Shelf


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 1 if it was refused."""
    parser = argparse.ArgumentParser(prog="themeshelf")
    parser.add_argument("--shelf", type=Path, default=Path("themes"))
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install")
    install.add_argument("bundle", type=Path)
    install.add_argument("--replace", action="store_true")
    commands.add_parser("list")
    remove = commands.add_parser("remove")
    remove.add_argument("name")
    arguments = parser.parse_args(argv)

    shelf = Shelf(arguments.shelf)
    try:
        if arguments.command == "install":
            theme = shelf.install(arguments.bundle, replace=arguments.replace)
            print(f"installed {theme.name} {theme.version}")
        elif arguments.command == "list":
            for theme in shelf.themes():
                print(f"{theme.name} {theme.version}")
        else:
            shelf.remove(arguments.name)
    except ThemeshelfError as error:
        print(f"themeshelf: {error}", file=sys.stderr)
        return 1
    return 0
