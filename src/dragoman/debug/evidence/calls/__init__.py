"""One call of one function, whole. `call_values`, `call_tracer` and `call_text` use the standard library alone: the
first two run inside the user's program, and all three are part of the pytest plugin too.
"""
