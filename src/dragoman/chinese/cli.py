"""Chinese of the cli phrases."""

TABLE: dict[str, str] = {}
