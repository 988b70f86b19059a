"""Chinese of the models phrases."""

TABLE: dict[str, str] = {}
