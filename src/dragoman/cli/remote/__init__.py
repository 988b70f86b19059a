"""Commands that work on another machine: the global option `--on`, and the connection that it chooses."""
