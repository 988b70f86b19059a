"""`python -m dragoman.shell`, for programs that start a wrapped shell."""

from __future__ import annotations

import sys

from dragoman.shell.arguments import parse_arguments
from dragoman.shell.main import run

options = parse_arguments(sys.argv[1:])
if options is None:
    sys.exit("usage: dragoman shell [--private] [--strip-marks] [--login] [--agent NAME] [-- COMMAND …]")
sys.exit(run(options))
