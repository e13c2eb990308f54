"""``git diff --name-only main | stewards OWNERS``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from stewards.errors import OwnersFileError
from stewards.report import summarise
from stewards.stewardship import Stewardship


def main(argv: Sequence[str] | None = None) -> int:
    """Print a report; 0 if every path has an owner, 1 if not, 2 on a bad file."""
    parser = argparse.ArgumentParser(prog="stewards", description=__doc__)
    parser.add_argument("owners_file", type=Path)
    arguments = parser.parse_args(argv)
    try:
        stewardship = Stewardship.parse(
            arguments.owners_file.read_text(encoding="utf-8")
        )
    except OwnersFileError as error:
        print(f"{arguments.owners_file}: {error}", file=sys.stderr)
        return 2
    report = summarise(stewardship, (line.rstrip("\n") for line in sys.stdin))
    print("\n".join(report.lines()))
    return 1 if report.unowned else 0
