"""The protocols: bytes to typed messages and back, one package per protocol. No I/O, no clock, no randomness."""
