"""What the command line accepts: the fast commands with their options, for both parsers, and the examples."""
