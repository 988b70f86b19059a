"""What the command line accepts: the fast commands and their options, for both parsers, and the examples."""
