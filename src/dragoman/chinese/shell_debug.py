"""Chinese of what `dragoman debug` and `dragoman demo` say."""

TABLE: dict[str, str] = {}
