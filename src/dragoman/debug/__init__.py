"""Debugging: sessions, what they stop at, and how programs are launched for them."""
