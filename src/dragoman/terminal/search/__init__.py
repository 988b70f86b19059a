"""Full-text search in recorded output."""
