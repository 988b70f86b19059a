"""One file a claim; `python -m bench.run` measures them and prints each against its goal."""
