"""Chinese of the clients phrases."""

TABLE: dict[str, str] = {
    "Transport": "传输方式",
    "What to do": "操作",
    "Copied ({by}).": "已复制({by})。",
    "No clipboard was found.": "没有找到剪贴板。",
    "Restart {client}, or reload its MCP servers, to use it.": "重启 {client} 或重新加载它的 MCP 服务器后即可使用。",
    "`dragoman client-config {id} --print` shows the same text.": (
        "`dragoman client-config {id} --print` 会显示同样的文本。"
    ),
    "It starts us itself (the default).": "由客户端自己启动(默认)。",
    "It connects to the running daemon.": "连接正在运行的守护进程。",
    "Print it (the default).": "打印出来(默认)。",
    "Put it on the clipboard.": "放到剪贴板。",
    "Merge it into the client's file.": "合并到客户端的配置文件。",
    "For this project alone, in a file that can be shared.": "只用于当前项目,写入可以共享的文件。",
    "The client's id; without one all are listed.": "客户端的标识;不给出时列出全部。",
    "Restart the clients that were changed.": "请重启配置有改动的客户端。",
    "Then ask your agent, for example:": "然后可以对你的智能体说,例如:",
    "  “Use dragoman to run the failing test in the debugger and tell me why it fails.”": (
        "  “用 dragoman 在调试器里运行失败的测试,告诉我为什么失败。”"
    ),
    "No MCP client was found. `dragoman client-config` lists those we know.": (
        "没有找到 MCP 客户端。`dragoman client-config` 列出已知的客户端。"
    ),
    "No client has our entry.": "没有客户端包含我们的条目。",
    "Nothing was changed: this is not a terminal. `--yes` makes the changes shown.": (
        "什么都没有改动:这里不是终端。加上 `--yes` 就会执行以上改动。"
    ),
    "{client}, {path}:": "{client},{path}:",
    "Connect {client}?": "连接 {client} 吗?",
    "Disconnect {client}?": "断开 {client} 吗?",
    "Change them all without asking.": "不询问,全部改动。",
    "Take our entry out of every client again.": "从所有客户端中移除我们的条目。",
    "No lasting `{name}` was found, so the plain name is used. Install it first: `uv tool install {name}`.": (
        "没有找到长期安装的 `{name}`,因此只写了名字。请先安装:`uv tool install {name}`。"
    ),
    "{client} cannot be given an HTTP server by configuration.": "{client} 无法通过配置文件使用 HTTP 服务器。",
    "Leave `--http` away: over stdio it has everything.": "去掉 `--http`:通过 stdio 功能是完整的。",
    "there is something else than a regular file": "那里不是普通文件",
    "it has more than {limit} bytes": "它超过 {limit} 字节",
    "it is owned by another user (uid {uid})": "它属于另一个用户(uid {uid})",
    "it is read-only": "它是只读的",
    "it could not be read: {reason}": "无法读取:{reason}",
    "byte {offset} is not UTF-8": "第 {offset} 个字节不是 UTF-8",
    "it could not be written: {reason}": "无法写入:{reason}",
    "it ended with status {status}: {line}": "它以状态 {status} 结束:{line}",
    "it did not start: {reason}": "它没有启动:{reason}",
    "it did not end within {seconds} seconds": "它没有在 {seconds} 秒内结束",
    "line {line}, column {column}: {problem}": "第 {line} 行第 {column} 列:{problem}",
    "{where} is not an object of named servers": "{where} 不是按名称列出服务器的对象",
    "{where} is written in a form that can be read but not safely edited": "{where} 的写法可以读取,但无法安全地编辑",
    "{client}: added to {path}.": "{client}:已加入 {path}。",
    "{client}: brought up to date in {path}.": "{client}:已更新 {path} 中的条目。",
    "{client}: already in {path}.": "{client}:{path} 中已有,无需改动。",
    "{client}: removed from {path}.": "{client}:已从 {path} 中移除。",
    "{client}: not in {path}.": "{client}:{path} 中没有。",
    'If {client} runs on Windows, its file is {file}: put "wsl.exe" for the command and '
    '"-e" and the command before the arguments.': (
        "如果 {client} 运行在 Windows 上,它的文件是 {file}:命令写 “wsl.exe”,参数前面加上 “-e” 和原来的命令。"
    ),
    "`{command}` did not do it ({reason}), so the file was edited.": (
        "`{command}` 没有成功({reason}),因此直接编辑了文件。"
    ),
    "The file as it was: {backup}": "原来的文件:{backup}",
    "For {client}, into {path}:": "用于 {client},放入 {path}:",
    "Or let it do that itself: `{command}`": "或者让它自己来做:`{command}`",
    "It reads the token from {variable}: `export {variable}=$(dragoman token show mcp {client})` before it starts.": (
        "它从 {variable} 读取令牌:启动它之前执行 `export {variable}=$(dragoman token show mcp {client})`。"
    ),
    "The token is not shown; `dragoman token show mcp {client}` prints it.": (
        "这里不显示令牌;`dragoman token show mcp {client}` 会打印它。"
    ),
    "It was done by `{command}`.": "由 `{command}` 完成。",
    "Claude Desktop takes HTTP servers in its Connectors window only, not from its file.": (
        "Claude Desktop 只能在 Connectors 窗口中添加 HTTP 服务器,不能通过文件。"
    ),
    "Windsurf became Devin Desktop in June 2026; newer versions are `devin`.": (
        "Windsurf 于 2026 年 6 月更名为 Devin Desktop;新版本请用 `devin`。"
    ),
    "Roo Code ended in May 2026; its successors read the same shape.": (
        "Roo Code 已于 2026 年 5 月停止;它的后继者使用同样的格式。"
    ),
    "Paste it into Settings > Tools > AI Assistant > Model Context Protocol (MCP).": (
        "粘贴到 Settings > Tools > AI Assistant > Model Context Protocol (MCP)。"
    ),
    "Say which MCP client.": "请指明是哪个 MCP 客户端。",
    "No MCP client is called {id}.": "没有名为 {id} 的 MCP 客户端。",
    "{path} belongs to the project, so the token is not written into it.": "{path} 属于项目,因此不会把令牌写进去。",
    "{client} has no file for this that we know of.": "据我们所知 {client} 没有这样的配置文件。",
    "Known are: {ids}.": "已知的有:{ids}。",
    "Use stdio, which needs no token, or leave `--project` away.": "使用不需要令牌的 stdio,或去掉 `--project`。",
    "`dragoman client-config {id} --print` shows what to paste.": (
        "`dragoman client-config {id} --print` 显示要粘贴的内容。"
    ),
    "Repair it and run this again, or take the entry {name} out of it by hand.": (
        "修好它后再运行一次,或手工删除其中的 {name} 条目。"
    ),
    "Repair it and run this again, or put this into it by hand:\n{snippet}": (
        "修好它后再运行一次,或手工把下面的内容放进去:\n{snippet}"
    ),
    "{path} was left as it is: {reason}.": "{path} 保持原样:{reason}。",
    "it reported success, but the entry is not there": "它报告成功,但条目并不在那里",
    "something else keeps writing to it": "有别的程序一直在写它",
}
