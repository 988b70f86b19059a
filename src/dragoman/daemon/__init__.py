"""The daemon: it puts everything together, and makes sure that there is one per user."""
