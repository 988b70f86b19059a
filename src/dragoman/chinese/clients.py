"""Chinese of the clients phrases."""

TABLE: dict[str, str] = {}
