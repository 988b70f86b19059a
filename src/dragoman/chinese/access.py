"""Chinese of the access phrases."""

TABLE: dict[str, str] = {}
