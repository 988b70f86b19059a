"""Chinese of the journal phrases."""

TABLE: dict[str, str] = {}
