"""Fakes that tests control: peers, faults and clocks."""
