"""Commands that set Dragoman up on this machine, check it and remove it."""
