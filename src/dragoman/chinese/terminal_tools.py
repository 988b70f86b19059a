"""Chinese of the terminal tools phrases."""

TABLE: dict[str, str] = {}
