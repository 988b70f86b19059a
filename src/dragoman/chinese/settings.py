"""Chinese of the settings phrases."""

TABLE: dict[str, str] = {}
