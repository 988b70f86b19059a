"""Evidence: questions about a whole run, such as a trace, a check or a crash, answered in one go."""
