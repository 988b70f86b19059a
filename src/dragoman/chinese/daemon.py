"""Chinese of the daemon phrases."""

TABLE: dict[str, str] = {}
