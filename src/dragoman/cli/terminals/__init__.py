"""Commands about recorded terminals and the commands that ran in them."""
