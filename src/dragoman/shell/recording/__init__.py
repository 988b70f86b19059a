"""What the wrapper sends to the daemon: output, commands and their outcome."""
