"""Chinese of the chat phrases."""

TABLE: dict[str, str] = {
    "The gateway connected us without these rights: {scopes}.": "网关接受了连接，但没有授予以下权限：{scopes}。",
    "Approve this device on the gateway, or give a token that carries them.": "请在网关上批准此设备，或提供带有这些权限的令牌。",
    "Nobody answers at {address}: {words}": "{address} 没有响应：{words}",
    "Start the gateway, or set another address.": "请启动网关，或设置另一个地址。",
    "The connection to the gateway was lost ({code} {words}).": "与网关的连接已断开（{code} {words}）。",
    "The gateway could not be reached in {attempts} attempts.": "尝试 {attempts} 次仍无法连接网关。",
    "Connect again when it runs, or allow unlimited attempts in the settings.": "请在网关运行后重新连接，或在设置中允许不限次数的重试。",
    "The gateway waits for somebody to approve this device.": "网关正在等待批准此设备。",
    "Approve it on the gateway with `openclaw devices approve {request}`, then connect again.": (
        "请在网关上用 `openclaw devices approve {request}` 批准，然后重新连接。"
    ),
    "The gateway waits for somebody to approve that its agents draw on this canvas.": "网关正在等待批准：允许其智能体在此画布上绘制。",
    "Approve it with `dragoman gateway approve {request}`, or on the gateway with `openclaw nodes approve {request}`.": (
        "请用 `dragoman gateway approve {request}` 批准，或在网关上用 `openclaw nodes approve {request}` 批准。"
    ),
    "Nothing of that name waits for approval on the gateway.": "网关上没有这个名称的待批准请求。",
    "`dragoman gateway status` says what waits, and how to approve it.": "用 `dragoman gateway status` 查看待批准的请求和批准方法。",
    "Its id; this canvas's own unless named.": "请求的编号；省略时为此画布的请求。",
    "Approved: {request}": "已批准：{request}",
    "canvas: {state}": "画布：{state}",
    "Approve what waits on the gateway: this canvas, or a device.": "批准网关上的请求：此画布或某个设备。",
    "The gateway refused us: {words}.": "网关拒绝了连接：{words}。",
    "Correct that, then connect again.": "请修改后重新连接。",
    "What answers there breaks the gateway protocol: {words}": "对方违反了网关协议：{words}",
    "Check the address: it must be a gateway of protocol 3 or 4.": "请检查地址：必须是使用协议 3 或 4 的网关。",
    (
        "Put the gateway's token into a file (mode 0600): `dragoman config set gateway_token_file FILE`, its address with "
        "`dragoman config set gateway_address URL` (no other is sent it), then `dragoman restart`. Another Dragoman tells "
        "its own with `dragoman token show gateway`."
    ): (
        "请将网关的令牌写入文件（权限 0600）并运行 `dragoman config set gateway_token_file FILE`，用 `dragoman config set gateway_address URL` 设置网关地址（令牌只会发给该地址），然后运行 `dragoman restart`。如果对方也是 Dragoman，可用 `dragoman token show gateway` 查看它的令牌。"
    ),
    "Update the gateway, or Dragoman: they share no version of the protocol.": "请更新网关或 Dragoman：双方没有共同支持的协议版本。",
    "Wait a few minutes, then connect again.": "请等待几分钟再重新连接。",
    "The gateway refused {method}: {words}": "网关拒绝了 {method}：{words}",
    "Missing rights are granted on the gateway; anything else is in its own words.": "缺少的权限需要在网关上授予；其他原因以网关的说明为准。",
    "There is no connection to a gateway ({state}). {reason}": "未连接到网关（{state}）。{reason}",
    "The gateway went away in the middle of the answer, for {seconds} seconds now.": "网关在回答过程中断开，至今已 {seconds} 秒。",
    "`dragoman gateway status` says when it is back. Look at the session's history then.": (
        "用 `dragoman gateway status` 查看它是否恢复，恢复后请查看会话历史。"
    ),
    "The gateway's token cannot be read from {file}.": "无法从 {file} 读取网关的令牌。",
    "Put the token into that file, or change the setting gateway_token_file.": "请将令牌写入该文件，或修改设置 gateway_token_file。",
    "Connect with `dragoman gateway connect`, then try again.": "请用 `dragoman gateway connect` 连接，然后重试。",
    "The connection ended before {method} was answered; whether it took effect is unknown.": "连接在 {method} 得到响应之前断开，无法确定它是否生效。",
    "It reconnects by itself: look at the session's history, then decide.": "连接会自动恢复：请先查看会话历史，再作决定。",
    "No gateway handshake within {seconds} seconds.": "网关握手未在 {seconds} 秒内完成。",
    "The gateway has said nothing about this answer for {seconds} seconds.": "网关已有 {seconds} 秒没有发来这次回答的消息。",
    "It may still be at work. The answer will be in the session's history when it is complete.": (
        "它可能仍在处理。回答完成后会出现在会话历史中。"
    ),
    "The gateway did not answer {method} within {seconds} seconds.": "网关未在 {seconds} 秒内响应 {method}。",
    "Try again; if it stays silent, connect anew.": "请重试；如果仍无响应，请重新连接。",
    "The key of this device is damaged: {file}.": "此设备的密钥已损坏：{file}。",
    "Remove that file; a new key is made, and gateways will ask for approval again.": (
        "请删除该文件，系统会生成新密钥；网关会再次要求批准。"
    ),
    "There is no conversation {key}.": "没有对话 {key}。",
    "Create it first, or send a message to it.": "请先创建它，或向它发送一条消息。",
    "There are {most} conversations, as many as are kept.": "已有 {most} 个对话，达到上限。",
    "Delete one that is no longer needed.": "请删除不再需要的对话。",
    "{most} messages wait in this conversation already.": "此对话中已有 {most} 条消息在等待。",
    "Wait for the run, or stop it.": "请等待当前运行结束，或停止它。",
    "That is not how it is written.": "写法不对。",
    "Write: {usage}": "应写成：{usage}",
    "Stop there, or in a function: name().": "在该位置停止，或在函数处停止：name()。",
    "The breakpoints.": "所有断点。",
    "Take breakpoints away.": "移除断点。",
    "What launch.json offers.": "launch.json 中的配置。",
    "Debug a configuration or a file.": "调试一个配置或文件。",
    "Go on to the next stop.": "继续运行到下一次停止。",
    "One step.": "单步执行。",
    "One step, over calls.": "单步跳过。",
    "Out of this function.": "单步跳出。",
    "Stop the program where it is.": "暂停程序。",
    "Where it stands, or will stop.": "程序当前停止的位置；如仍在运行，则等待它停止。",
    "From the beginning.": "重新启动。",
    "End the debug session.": "结束调试会话。",
    "The variables of this frame, of another scope, or what one holds.": "当前栈帧或其他作用域的变量，或某个变量的内容。",
    "Approvals and trust are given by a person, not by a client of the gateway.": (
        "是否批准操作、是否信任文件夹，由人来决定，网关的客户端无权决定。"
    ),
    "Answer on the page or in the editor.": "请在页面或编辑器中回答。",
    "Approvals are given by a person, not in a terminal or program of an agent.": (
        "批准由人给出，不能在智能体的终端或程序中给出。"
    ),
    "Answer on the page, in the editor, or in a terminal of your own.": "请在页面、编辑器或你自己的终端中回答。",
    "Approvals are given in an interactive terminal.": "只能在交互式终端中批准。",
    "Answer on the page, in the editor, or with `dragoman approvals` in a terminal of your own.": (
        "请在页面、编辑器中回答，或在你自己的终端中用 `dragoman approvals` 回答。"
    ),
    "Nothing waits for approval.": "没有等待批准的操作。",
    "Allow it?": "允许吗？",
    "It was answered already, or waits no longer.": "它已被回答，或不再等待。",
    "Allowed.": "已允许。",
    "Denied.": "已拒绝。",
    "Waits for your trust in this folder:": "等待你信任此文件夹：",
    "Waits for your approval, {tool}:": "等待你批准 {tool}：",
    "Show what the chat's agent waits for, and answer it.": "显示聊天智能体等待批准的操作，并作出回答。",
    "Waits for approval on the page or in the editor: {subject}": "等待在页面或编辑器中批准：{subject}",
    "Nothing was started: a person has not approved yet what would run.": "未启动任何程序：要运行的内容尚未得到批准。",
    "The person is asked in the chat.": "已在聊天中询问用户。",
    "Stop at": "断点",
    "Run": "运行",
    "Look": "查看",
    "Terminals": "终端",
    "Record": "记录",
    "`/help COMMAND` explains one. Every tool is a command too: `/help tools` lists them.": (
        "`/help COMMAND` 说明单个命令。每个工具也都是命令，用 `/help tools` 列出。"
    ),
    "Who called what, to here.": "到当前位置为止的调用栈。",
    "The lines around this one.": "当前行附近的源代码。",
    "One step, into a call.": "单步进入。",
    "What an expression is.": "表达式的值。",
    "Lines of a file.": "文件中的若干行。",
    "What the program printed last.": "程序最近的输出。",
    "The debug sessions.": "所有调试会话。",
    "Why the last command failed.": "上一条命令失败的原因。",
    "Commands that ran in terminals.": "在终端中运行过的命令。",
    "What the last command printed.": "上一条命令的输出。",
    "The terminals.": "所有终端。",
    "What a terminal shows.": "终端显示的内容。",
    "Run a command in a terminal of its own.": "在单独的终端中运行命令。",
    "What happened here before.": "查看以往的事件。",
    "What runs here.": "查看正在运行的内容。",
    "Every tool is a command too, with name=value: {names}.": "每个工具也都是命令，参数写成 name=value：{names}。",
    "There is no model here to talk to, but every tool is a command: /why explains the last failure, /start FILE debugs it, /break FILE:LINE stops there. /help lists them.": (
        "这里没有可对话的模型，但每个工具都是命令：/why 解释最近一次失败，/start FILE 调试文件，/break FILE:LINE 设置断点。/help 列出全部命令。"
    ),
    "Did you mean {names}?": "你是指 {names} 吗？",
    "The gateway is asked to let us in.": "正在请求网关接受连接。",
    "Wait a moment; `dragoman gateway status` says how it went.": "请稍候，用 `dragoman gateway status` 查看结果。",
    "It is tried again by itself.": "会自动重试。",
    'It let go of us, where its words are "slow consumer" because we read too slowly. It is tried again.': (
        "网关断开了连接；如果它的说明是 “slow consumer”，表示本机读取太慢。会自动重试。"
    ),
    "A message was larger than is taken. It is tried again by itself.": "有一条消息超过了允许的大小。会自动重试。",
    "It stops or starts again. It is tried again by itself; start it if it stays away.": (
        "网关正在停止或重启。会自动重试；如果它一直没有恢复，请启动它。"
    ),
    "It has no room for us now. It is tried again by itself.": "网关的连接数已满。会自动重试。",
    "It said nothing for two ticks. It is tried again by itself; look whether it still runs.": (
        "网关在两个心跳周期内没有消息。会自动重试；请确认它是否仍在运行。"
    ),
    "The token was changed. Set the one that this gateway has now.": "令牌已更换。请设置该网关当前的令牌。",
    "Nobody has asked for a connection yet.": "尚未请求过连接。",
    "Connect with `dragoman gateway connect`. The chat of the page and its agent need no other gateway.": (
        "请用 `dragoman gateway connect` 连接。页面的聊天及其智能体不需要其他网关。"
    ),
    "The connection was ended on request.": "已按要求断开连接。",
    "Connect again with `dragoman gateway connect`.": "请用 `dragoman gateway connect` 重新连接。",
    "What the commands do.": "各命令的用途。",
    "/help lists the commands.": "/help 列出所有命令。",
    "There is no command /{name}.": "没有命令 /{name}。",
    "It took longer than {seconds} seconds.": "用时超过 {seconds} 秒。",
    "It used more than {tokens} tokens.": "用量超过 {tokens} 个词元。",
    "It took more than {steps} steps.": "超过了 {steps} 步。",
    "The run was ended: {reason}": "本次运行已终止：{reason}",
    "Send another message to go on from here.": "再发送一条消息即可继续。",
    "The gateway's answer has not the shape that the protocol gives it.": "网关的响应不符合协议规定的格式。",
    "That is not the address of a gateway: {address}": "这不是网关的地址：{address}",
    "It begins with ws:// or wss://, such as ws://127.0.0.1:18789.": "地址以 ws:// 或 wss:// 开头，例如 ws://127.0.0.1:18789。",
    "Its address; that of the settings unless named.": "网关地址；省略时使用设置中的地址。",
    "Connecting to the gateway": "正在连接网关",
    "running": "运行中",
    "The gateway has no sessions yet.": "网关上还没有会话。",
    "What you say.": "要发送的内容。",
    "The session to say it in.": "发送到哪个会话。",
    "The answer ended early: {reason}": "回答提前结束：{reason}",
    "{address}: {state}": "{address}：{state}",
    "An OpenClaw gateway: connect to it, and talk to its agents.": "OpenClaw 网关：连接它，并与它的智能体对话。",
    "Connect the daemon to a gateway.": "让守护进程连接网关。",
    "End the connection.": "结束连接。",
    "Show how the connection stands.": "显示连接状态。",
    "Say something to an agent, and see its answer as it comes.": "向智能体发送消息，并实时显示它的回答。",
    "List the gateway's sessions.": "列出网关的会话。",
    "Stopped before it answered.": "在得到结果之前已停止。",
    "Nobody waits for it any more, but a program that runs by now goes on: see Debugger. "
    "`/stop` ends it.": "已停止等待，但已启动的程序会继续运行：请看“调试器”。用 `/stop` 结束它。",
    "Nobody waits for it any more, but the command goes on in its terminal: see Terminals. "
    "`/run_in_terminal interrupt=true` ends it.": "已停止等待，但命令仍在其终端中运行：请看“终端”。用 `/run_in_terminal interrupt=true` 结束它。",
}
