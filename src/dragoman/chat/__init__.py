"""Chat: the client of an OpenClaw gateway, what its frames mean, and the runs of agents."""
