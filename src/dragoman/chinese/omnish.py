"""Chinese of the omnish phrases."""

TABLE: dict[str, str] = {
    "Another program listens at {path}.": "另一个程序正在 {path} 上监听。",
    "Dragoman gives out no programs of others.": "Dragoman 不分发其他程序。",
    "Dragoman's settings are changed with `dragoman config`.": "请用 `dragoman config` 修改 Dragoman 的设置。",
    "End it, or name another address in OMNISH_SOCKET.": "请结束它，或在 OMNISH_SOCKET 中指定另一个地址。",
    "Gateway: {address}, {state}.": "网关：{address}，{state}。",
    "Terminals: {count} connected.": "终端：已连接 {count} 个。",
    "The answer took too long and ends here. Ask again, or see `dragoman logs`.": "回答耗时过长，到此为止。请重新提问，或查看 `dragoman logs`。",
    "Too many questions at once; this one was not asked.": "同时提出的问题太多，这一个没有提交。",
}
