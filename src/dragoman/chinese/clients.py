"""Chinese of the clients phrases."""

TABLE: dict[str, str] = {
    "Transport": "传输方式",
    "What to do": "操作",
    "Copied ({by}).": "已复制（{by}）。",
    "No clipboard was found.": "没有找到剪贴板。",
    "Restart {client}, or reload its MCP servers, to use it.": "重启 {client} 或重新加载它的 MCP 服务器后即可使用。",
    "`dragoman client-config {id} --print` shows the same text.": (
        "用 `dragoman client-config {id} --print` 可显示同样的文本。"
    ),
    "It starts us itself (the default).": "由客户端启动 Dragoman（默认）。",
    "It connects to the running daemon.": "连接正在运行的守护进程。",
    "Print it (the default).": "显示配置（默认）。",
    "Put it on the clipboard.": "复制到剪贴板。",
    "Merge it into the client's file.": "合并到客户端的配置文件。",
    "For this project alone, in a file that can be shared.": "只用于当前项目，写入可以共享的文件。",
    "The client's id; without one all are listed.": "客户端的标识；省略时列出全部。",
    "Restart the clients that were changed.": "请重启配置有更改的客户端。",
    "Then ask your agent, for example:": "然后可以对你的智能体说，例如：",
    "  “Use dragoman to run the failing test in the debugger and tell me why it fails.”": (
        "  “用 dragoman 在调试器里运行失败的测试，告诉我为什么失败。”"
    ),
    "No MCP client was found. `dragoman client-config` lists those we know.": (
        "没有找到 MCP 客户端。用 `dragoman client-config` 查看支持的客户端。"
    ),
    "No client has our entry.": "没有客户端配置了 Dragoman。",
    "Nothing was changed: this is not a terminal. `--yes` makes the changes shown.": (
        "未做任何更改：这里不是终端。加上 `--yes` 即可执行以上更改。"
    ),
    "{client}, {path}:": "{client}，{path}：",
    "Connect {client}?": "连接 {client} 吗？",
    "Disconnect {client}?": "断开 {client} 吗？",
    "Change them all without asking.": "全部更改，不再询问。",
    "Take our entry out of every client again.": "从所有客户端中移除 Dragoman 的配置。",
    "No lasting `{name}` was found, so the plain name is used. Install it first: `uv tool install {name}`.": (
        "没有找到已安装的 `{name}`，因此配置中只写了名称。请先安装：`uv tool install {name}`。"
    ),
    "{client} cannot be given an HTTP server by configuration.": "{client} 无法通过配置文件使用 HTTP 服务器。",
    "Leave `--http` away: over stdio it has everything.": "请去掉 `--http`：通过 stdio 可使用全部功能。",
    "there is something else than a regular file": "该位置不是普通文件",
    "it has more than {limit} bytes": "它超过 {limit} 字节",
    "it is owned by another user (uid {uid})": "它属于另一个用户（uid {uid}）",
    "it is read-only": "它是只读的",
    "it could not be read: {reason}": "无法读取：{reason}",
    "byte {offset} is not UTF-8": "第 {offset} 个字节不是 UTF-8",
    "it could not be written: {reason}": "无法写入：{reason}",
    "it ended with status {status}: {line}": "以状态 {status} 结束：{line}",
    "it did not start: {reason}": "无法启动：{reason}",
    "it did not end within {seconds} seconds": "未在 {seconds} 秒内结束",
    "line {line}, column {column}: {problem}": "第 {line} 行第 {column} 列：{problem}",
    "{where} is not an object of named servers": "{where} 不是以服务器名称为键的对象",
    "{where} is written in a form that can be read but not safely edited": "{where} 的写法可以读取，但无法安全地编辑",
    "{client}: added to {path}.": "{client}：已加入 {path}。",
    "{client}: brought up to date in {path}.": "{client}：已更新 {path} 中的条目。",
    "{client}: already in {path}.": "{client}：{path} 中已有，无需更改。",
    "{client}: removed from {path}.": "{client}：已从 {path} 中移除。",
    "{client}: not in {path}.": "{client}：{path} 中没有。",
    'If {client} runs on Windows, its file is {file}: put "wsl.exe" for the command and '
    '"-e" and the command before the arguments.': (
        "如果 {client} 运行在 Windows 上，它的配置文件是 {file}：将 command 写成 “wsl.exe”，并在参数前加上 “-e” 和原来的命令。"
    ),
    "`{command}` did not do it ({reason}), so the file was edited.": (
        "`{command}` 没有成功（{reason}），因此直接修改了文件。"
    ),
    "The file as it was: {backup}": "原文件的备份：{backup}",
    "For {client}, into {path}:": "用于 {client}，写入 {path}：",
    "Or let it do that itself: `{command}`": "或使用它自己的命令：`{command}`",
    "It reads the token from {variable}: `export {variable}=$(dragoman token show mcp {client})` before it starts.": (
        "它从环境变量 {variable} 读取令牌：启动它之前请运行 `export {variable}=$(dragoman token show mcp {client})`。"
    ),
    "The token is not shown; `dragoman token show mcp {client}` prints it.": (
        "此处不显示令牌；用 `dragoman token show mcp {client}` 查看。"
    ),
    "It was done by `{command}`.": "已通过 `{command}` 完成。",
    "Claude Desktop takes HTTP servers in its Connectors window only, not from its file.": (
        "Claude Desktop 只能在 Connectors 窗口中添加 HTTP 服务器，不能通过配置文件添加。"
    ),
    "Windsurf became Devin Desktop in June 2026; newer versions are `devin`.": (
        "Windsurf 于 2026 年 6 月更名为 Devin Desktop；新版本请用 `devin`。"
    ),
    "Roo Code ended in May 2026; its successors read the same shape.": (
        "Roo Code 已于 2026 年 5 月停止维护；后继产品使用同样的格式。"
    ),
    "Paste it into Settings > Tools > AI Assistant > Model Context Protocol (MCP).": (
        "粘贴到 Settings > Tools > AI Assistant > Model Context Protocol (MCP)。"
    ),
    "Say which MCP client.": "请指明是哪个 MCP 客户端。",
    "No MCP client is called {id}.": "没有名为 {id} 的 MCP 客户端。",
    "{path} belongs to the project, so the token is not written into it.": "{path} 属于项目，因此不会把令牌写进去。",
    "{client} has no file for this that we know of.": "{client} 没有已知的此类配置文件。",
    "Known are: {ids}.": "支持的客户端：{ids}。",
    "Use stdio, which needs no token, or leave `--project` away.": "请使用不需要令牌的 stdio，或去掉 `--project`。",
    "`dragoman client-config {id} --print` shows what to paste.": (
        "用 `dragoman client-config {id} --print` 查看要粘贴的内容。"
    ),
    "Repair it and run this again, or take the entry {name} out of it by hand.": (
        "请修复后重新运行，或手动删除其中的 {name} 条目。"
    ),
    "Repair it and run this again, or put this into it by hand:\n{snippet}": (
        "请修复后重新运行，或手动写入以下内容：\n{snippet}"
    ),
    "{path} was left as it is: {reason}.": "{path} 未做更改：{reason}。",
    "it reported success, but the entry is not there": "它报告成功，但文件中没有该条目",
    "something else keeps writing to it": "有其他程序在不断写入该文件",
}
