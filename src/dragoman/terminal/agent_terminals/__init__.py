"""Terminals that the daemon holds for agents."""
