"""Runs the program: `python -m timenav_server serve --demo`."""

import os
import sys

from timenav_server import find_timenav_bin

if __name__ == "__main__":
    program = find_timenav_bin()
    os.execv(program, [program, *sys.argv[1:]])  # noqa: S606
