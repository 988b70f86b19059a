"""Chinese of what is said about starting: tasks, compounds, attaching."""

TABLE: dict[str, str] = {}
