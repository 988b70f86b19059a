"""Fakes that are part of the product: peers, faults and clocks that a test can steer."""
