"""The only sockets, pipes, processes and PTYs, and the files that must survive faults."""
