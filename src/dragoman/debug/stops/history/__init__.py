"""Past stops: recorded, listed, compared and searched."""
