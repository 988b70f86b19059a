"""Input and output: the only sockets, pipes, processes and terminals, and the files that must survive faults."""
