"""Chinese of the omnish phrases."""

TABLE: dict[str, str] = {}
