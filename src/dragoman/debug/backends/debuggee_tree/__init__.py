"""Several debuggees behind one backend: a root process and the child sessions that it asks for."""
