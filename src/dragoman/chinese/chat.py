"""Chinese of the chat phrases."""

TABLE: dict[str, str] = {
    "The gateway connected us without these rights: {scopes}.": "网关接受了连接，但没有授予这些权限：{scopes}。",
    "Approve this device on the gateway, or give a token that carries them.": "请在网关上批准此设备，或提供带有这些权限的令牌。",
    "Nobody answers at {address}: {words}": "{address} 没有应答：{words}",
    "Start the gateway, or set another address.": "请启动网关，或设置另一个地址。",
    "The connection to the gateway was lost ({code} {words}).": "与网关的连接断开了（{code} {words}）。",
    "The gateway could not be reached in {attempts} attempts.": "尝试 {attempts} 次仍无法连接网关。",
    "Connect again when it runs, or allow unlimited attempts in the settings.": "等它运行后再连接，或在设置中允许无限次尝试。",
    "The gateway waits for somebody to approve this device.": "网关正等待有人批准此设备。",
    "Approve request {request} there, then connect again.": "请在那里批准请求 {request}，然后重新连接。",
    "The gateway refused us: {words}": "网关拒绝了我们：{words}",
    "Correct that, then connect again.": "请改正后重新连接。",
    "What answers there breaks the gateway protocol: {words}": "应答的一方违反了网关协议：{words}",
    "Check the address: it must be a gateway of protocol 3 or 4.": "请检查地址：必须是协议 3 或 4 的网关。",
    "Set the token that this gateway has now.": "请设置该网关当前的令牌。",
    "Set the gateway's token.": "请设置网关的令牌。",
    "Set the gateway's token: it admits no device without one.": "请设置网关的令牌：没有令牌它不接受任何设备。",
    "Update the gateway, or Dragoman: they share no version of the protocol.": "请更新网关或 Dragoman：两者没有共同的协议版本。",
    "Wait a few minutes, then connect again.": "请等几分钟再连接。",
    "The gateway refused {method}: {words}": "网关拒绝了 {method}：{words}",
    "Missing rights are granted on the gateway; anything else is in its own words.": "缺少的权限需在网关上授予；其余以网关自己的话为准。",
    "There is no connection to a gateway (state: {state}).": "没有与网关的连接（状态：{state}）。",
    "Connect with `dragoman gateway connect`, then try again.": "请用 `dragoman gateway connect` 连接，然后重试。",
    "The connection ended before {method} was answered; whether it took effect is unknown.": "{method} 得到应答之前连接就断了；是否生效未知。",
    "It reconnects by itself: look at the session's history, then decide.": "它会自动重连：请查看会话历史再决定。",
    "The gateway did not answer {method} within {seconds} seconds.": "网关在 {seconds} 秒内没有应答 {method}。",
    "Try again; if it stays silent, connect anew.": "请重试；若仍无应答，请重新连接。",
    "The key of this device is damaged: {file}.": "此设备的密钥已损坏：{file}。",
    "Remove that file; a new key is made, and gateways will ask for approval again.": (
        "请删除该文件；会生成新密钥，网关会再次要求批准。"
    ),
}
