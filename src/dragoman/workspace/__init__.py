"""A developer's folder and whoever works in it: paths, interpreters, breakpoints that outlive sessions."""
