"""Suggests command lines, learnt from the commands that a person ran."""
