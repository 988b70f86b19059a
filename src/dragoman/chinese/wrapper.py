"""Chinese of the wrapper phrases."""

TABLE: dict[str, str] = {}
