"""`python -m bitproof`: the command line."""

from __future__ import annotations

import os
import sys

from ._library import BitproofError, find_file


def main() -> None:
    try:
        executable = find_file("bitproof-conformance")
    except BitproofError as error:
        sys.exit(f"bitproof: {error}")
    if sys.argv[1:2] == ["frames"]:
        print("bitproof: frames is not part of this package; run ./bitproof frames in the source tree", file=sys.stderr)
        sys.exit(2)
    os.execv(executable, ["bitproof", *sys.argv[1:]])


if __name__ == "__main__":
    main()
