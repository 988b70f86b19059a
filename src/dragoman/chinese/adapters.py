"""Chinese of what is said about debug adapters: where they are, how they are installed, how one is reached."""

TABLE: dict[str, str] = {}
