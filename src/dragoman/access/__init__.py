"""Access: tokens by purpose, one-time login codes, the request guard, and links that end when a token changes."""
