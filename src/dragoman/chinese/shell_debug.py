"""Chinese of what `dragoman debug` and `dragoman demo` say."""

TABLE: dict[str, str] = {
    # The daemon's side.
    "This daemon does not know `{method}`.": "这个守护进程不认识 `{method}`。",
    "What was asked of the daemon lacks a part or has one of the wrong kind.": "对守护进程的请求缺少内容，或内容类型不对。",
}
