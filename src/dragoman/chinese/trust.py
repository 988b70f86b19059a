"""Chinese of what is said about trust, allowed folders and paths."""

TABLE: dict[str, str] = {}
