"""Who may speak to us: tokens by purpose, one-time codes for the page, and the links that end when a token changes."""
