# SPDX-License-Identifier: Apache-2.0
"""The command `gemmtune`: becomes the program that the wheel holds."""

import os
import sys

from . import _library


def main():
    """Runs the program with this process's arguments. Does not return."""
    program = _library.program_path()
    try:
        os.execve(program, ["gemmtune", *sys.argv[1:]], _library.program_environment())
    except OSError as reason:
        sys.exit(f"gemmtune: the program cannot be started ({reason}): install the wheel, run make, "
                 "or name it in GEMMTUNE_PROGRAM")


if __name__ == "__main__":
    main()
