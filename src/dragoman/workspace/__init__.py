"""A developer's workspace: files that may be read, trust, interpreters, and breakpoints that outlive sessions."""
