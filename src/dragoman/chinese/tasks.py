"""Chinese of what is said about starting: tasks, compounds, attaching."""

TABLE: dict[str, str] = {
    "See `line` for what it runs, and `cwd` for where.": "运行的命令见 `line`，所在的文件夹见 `cwd`。",
    "See `last_lines` for what it said last, and `line` for what it ran.": (
        "它最后的输出见 `last_lines`，运行的命令见 `line`。"
    ),
    "There is no debug adapter for the type {type}.": "没有类型 {type} 的调试适配器。",
    "Types that can be debugged here: {types}. `dragoman adapters` says how to get others. Or ask the person to open "
    "this folder in VS Code with the extension for that type and Dragoman's: it is then started there.": (
        "可以调试的类型：{types}。用 `dragoman adapters` 查看如何安装其他类型的适配器。也可以请用户在安装了该类型扩展和 Dragoman 扩展的 VS Code 中打开此文件夹，调试会话会在那里启动。"
    ),
    "The tasks before the program have not ended: there is no debugger yet.": "启动前的任务尚未结束，调试器还没有启动。",
    "Wait for the session, or stop it.": "请等待该会话，或停止它。",
    "The configuration does not say what to attach to.": "配置没有指明要附加到哪个进程。",
    "Give `process_id`, or write processId, or connect with host and port, into the configuration.": (
        "请给出 `process_id`，或在配置中写入 processId，或写入包含 host 和 port 的 connect。"
    ),
    "{key} must be the number of a process, not {value}.": "{key} 必须是进程号，而不是 {value}。",
    "Give `process_id`, and write {example} in the configuration.": "请给出 `process_id`，并在配置中写入 {example}。",
    "There is no process {pid}.": "没有进程 {pid}。",
    "It may have ended; find the number of the running one, by `pgrep` for example.": (
        "它可能已经结束；请查找正在运行的进程号，例如用 `pgrep`。"
    ),
    "The process {pid} belongs to another user.": "进程 {pid} 属于其他用户。",
    "Only a process of your own can be attached to.": "只能附加到你自己的进程。",
    "The process {pid} is the daemon itself, which would stop before it could say so.": (
        "进程 {pid} 就是守护进程自身，附加后它会停止，无法再报告结果。"
    ),
    "Name another process.": "请指定另一个进程。",
}
