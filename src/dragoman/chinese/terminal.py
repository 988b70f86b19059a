"""Chinese of the terminal phrases."""

TABLE: dict[str, str] = {}
