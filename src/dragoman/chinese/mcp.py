"""What MCP clients, their agents and the people who connect them read."""

TABLE = {
    "Serve one MCP client on standard input and output; clients start it.": "在标准输入输出上为一个 MCP 客户端服务；由客户端启动。",
    "No daemon is running, and the setting mcp_starts_daemon is false.": "守护进程没有运行，而设置 mcp_starts_daemon 为 false。",
    "Start one with `dragoman up`; then try again.": "请用 `dragoman up` 启动，然后重试。",
    "The variable {name} is too long to be passed on to programs.": "变量 {name} 太长，不会传给所启动的程序。",
    "The daemon ended before it answered; whether this call had an effect is not known. The next call goes to a new daemon.": "守护进程在回答之前结束了；这次调用是否生效无法得知。下一次调用会交给新的守护进程。",
    "There is no tool {name}.": "没有名为 {name} 的工具。",
    "There are: {names}.": "可用的有：{names}。",
    "{tool} cannot be called like this: {reasons}.": "不能这样调用 {tool}：{reasons}。",
    "Its parameters are: {names}.": "它的参数有：{names}。",
    "Dragoman {version} at {address}, since {since}. Workspace: {workspace}.": "Dragoman {version}，地址 {address}，自 {since} 起运行。工作区：{workspace}。",
    "Nothing in the journal has all of these words.": "日志中没有同时包含这些词的事件。",
    "{count} older events are left out; more words find fewer.": "省略了 {count} 条更早的事件；多给几个词可以缩小范围。",
}
