"""Chinese of the tools for evidence and of their commands."""

TABLE: dict[str, str] = {
    # What to run, and where.
    "Give exactly one of `configuration_name`, `configuration`, `program` and `session_id`.": "请恰好给出 `configuration_name`、`configuration`、`program` 和 `session_id` 之一。",
    "get_debugger_configurations lists the names there are; list_sessions what is stopped.": "get_debugger_configurations 列出已有的名称；list_sessions 列出已停止的会话。",
    "`args`, `cwd`, `env` and `stdin` are for a start: a session runs already.": "`args`、`cwd`、`env` 和 `stdin` 用于启动：会话已在运行。",
    "Give exactly one of `line_number`, `line_text` and `function`.": "请恰好给出 `line_number`、`line_text` 和 `function` 之一。",
    "Give the `file_path` of the place: the configuration does not say it.": "请给出该位置的 `file_path`：配置中没有说明。",
    "The user broke off the run.": "用户中断了这次运行。",
    # How a run ended.
    "limit: there are more hits than max_hits": "限制：命中次数超过 max_hits",
    "limit: there is more than max_chars": "限制：内容超过 max_chars",
    "limit: it was not over after timeout_s": "限制：timeout_s 之后仍未结束",
    "limit: an expression was not evaluated in time": "限制：有表达式未能及时求值",
    "limit: there are more steps than max_steps": "限制：步数超过 max_steps",
    "may have changed the program: {expressions}": "可能改变了程序：{expressions}",
    # The table.
    "Two points stand at one place with different conditions, and a debugger knows one.": "同一位置有两个条件不同的点，而调试器只认一个。",
    "Give one of them, with the condition as an expression.": "请只给出其中一个，并把条件作为表达式。",
    "  not bound: {reason}": "  未绑定：{reason}",
    "  never reached": "  从未到达",
    # A claim.
    "holds: {place}, hits: {hits}": "成立：{place}，命中次数：{hits}",
    "broken at hit {hits} of {place}": "在 {place} 的第 {hits} 次命中时不成立",
    "never reached: {place}": "从未到达：{place}",
    # A crash.
    "The program ended.": "程序已结束。",
    "No crash: the program ended by itself.": "没有崩溃：程序自行结束。",
    # A change.
    "Give the place at which the expression begins to mean something.": "请给出表达式开始有意义的位置。",
    "A stopped session needs none: it begins where it stands.": "已停止的会话不需要：从它所在处开始。",
    "changed at {place}": "在 {place} 改变",
    "unchanged ({steps} steps)": "没有改变（{steps} 步）",
    "The place was never reached.": "从未到达该位置。",
}
