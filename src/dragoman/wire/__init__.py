"""Bytes to messages and back, one package a protocol. No I/O, no clock, no randomness."""
