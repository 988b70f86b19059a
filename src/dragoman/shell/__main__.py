"""`python -m dragoman.shell`, for those who start a wrapped shell from a program."""

from __future__ import annotations

import sys

from dragoman.shell.arguments import parse
from dragoman.shell.main import run

options = parse(sys.argv[1:])
if options is None:
    sys.exit("usage: dragoman shell [--private] [--strip-marks] [--login] [--agent NAME] [-- COMMAND …]")
sys.exit(run(options))
