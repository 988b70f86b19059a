"""The wrapper that runs in a person's terminal: it copies first and records when it can."""
