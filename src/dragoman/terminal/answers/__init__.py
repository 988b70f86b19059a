"""Answers to questions about terminals, from the record and with a model if one is configured."""
