"""The settings: their schema, the debug adapters among them, and the loader that reads file and environment."""
