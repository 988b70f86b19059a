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
    "Approve it on the gateway with `openclaw devices approve {request}`, then connect again.": (
        "请在网关上用 `openclaw devices approve {request}` 批准，然后重新连接。"
    ),
    "The gateway waits for somebody to approve that its agents draw on this canvas.": "网关正等待有人批准其智能体在此画布上绘制。",
    "Approve it with `dragoman gateway approve {request}`, or on the gateway with `openclaw nodes approve {request}`.": (
        "请用 `dragoman gateway approve {request}` 批准，或在网关上用 `openclaw nodes approve {request}` 批准。"
    ),
    "Nothing of that name waits for approval on the gateway.": "网关上没有这个名称的待批准请求。",
    "`dragoman gateway status` says what waits, and how to approve it.": "`dragoman gateway status` 会说明有哪些待批准及如何批准。",
    "Its id; this canvas's own unless named.": "请求的编号；不指定则为此画布自己的请求。",
    "Approved: {request}": "已批准：{request}",
    "canvas: {state}": "画布：{state}",
    "Approve what waits on the gateway: this canvas, or a device.": "批准网关上的待批准请求：此画布或某个设备。",
    "The gateway refused us: {words}.": "网关拒绝了我们：{words}。",
    "Correct that, then connect again.": "请改正后重新连接。",
    "What answers there breaks the gateway protocol: {words}": "应答的一方违反了网关协议：{words}",
    "Check the address: it must be a gateway of protocol 3 or 4.": "请检查地址：必须是协议 3 或 4 的网关。",
    (
        "Put the gateway's token into a file (mode 0600): `dragoman config set gateway_token_file FILE`, its address with "
        "`dragoman config set gateway_address URL` (no other is sent it), then `dragoman restart`. Another Dragoman tells "
        "its own with `dragoman token show gateway`."
    ): (
        "请把网关的令牌写入文件（权限 0600）：`dragoman config set gateway_token_file FILE`，并用 "
        "`dragoman config set gateway_address URL` 设置其地址（令牌只发给它），然后 `dragoman restart`。"
        "另一个 Dragoman 的令牌用 `dragoman token show gateway` 查看。"
    ),
    "Update the gateway, or Dragoman: they share no version of the protocol.": "请更新网关或 Dragoman：两者没有共同的协议版本。",
    "Wait a few minutes, then connect again.": "请等几分钟再连接。",
    "The gateway refused {method}: {words}": "网关拒绝了 {method}：{words}",
    "Missing rights are granted on the gateway; anything else is in its own words.": "缺少的权限需在网关上授予；其余以网关自己的话为准。",
    "There is no connection to a gateway ({state}). {reason}": "没有与网关的连接（{state}）。{reason}",
    "The gateway went away in the middle of the answer, for {seconds} seconds now.": "网关在回答途中离开，至今已有 {seconds} 秒。",
    "`dragoman gateway status` says when it is back. Look at the session's history then.": (
        "`dragoman gateway status` 会说明它何时恢复，届时请查看会话历史。"
    ),
    "The gateway's token cannot be read from {file}.": "无法从 {file} 读取网关的令牌。",
    "Put the token into that file, or change the setting gateway_token_file.": "请把令牌写入该文件，或更改设置 gateway_token_file。",
    "Connect with `dragoman gateway connect`, then try again.": "请用 `dragoman gateway connect` 连接，然后重试。",
    "The connection ended before {method} was answered; whether it took effect is unknown.": "{method} 得到应答之前连接就断了；是否生效未知。",
    "It reconnects by itself: look at the session's history, then decide.": "它会自动重连：请查看会话历史再决定。",
    "No gateway handshake within {seconds} seconds.": "{seconds} 秒内没有完成网关握手。",
    "The gateway has said nothing about this answer for {seconds} seconds.": "网关已有 {seconds} 秒没有发来这次回复的任何消息。",
    "It may still be at work. The answer will be in the session's history when it is complete.": (
        "它可能仍在处理。回复完成后会出现在会话历史中。"
    ),
    "The gateway did not answer {method} within {seconds} seconds.": "网关在 {seconds} 秒内没有应答 {method}。",
    "Try again; if it stays silent, connect anew.": "请重试；若仍无应答，请重新连接。",
    "The key of this device is damaged: {file}.": "此设备的密钥已损坏：{file}。",
    "Remove that file; a new key is made, and gateways will ask for approval again.": (
        "请删除该文件；会生成新密钥，网关会再次要求批准。"
    ),
    "There is no conversation {key}.": "没有会话 {key}。",
    "Create it first, or send a message to it.": "请先创建它，或向它发送一条消息。",
    "There are {most} conversations, as many as are kept.": "已有 {most} 个会话，达到保留上限。",
    "Delete one that is no longer needed.": "请删除一个不再需要的会话。",
    "{most} messages wait in this conversation already.": "这个会话中已有 {most} 条消息在等待。",
    "Wait for the run, or stop it.": "请等待当前运行结束，或停止它。",
    "That is not how it is written.": "写法不对。",
    "Write: {usage}": "应写成：{usage}",
    "Stop there, or in a function: name().": "在那里停下，或在函数中：name()。",
    "The breakpoints.": "所有断点。",
    "Take breakpoints away.": "移除断点。",
    "What launch.json offers.": "launch.json 提供的配置。",
    "Debug a configuration or a file.": "调试一个配置或文件。",
    "Go on to the next stop.": "继续运行到下一次停止。",
    "One step.": "单步。",
    "One step, over calls.": "单步，跳过调用。",
    "Out of this function.": "跳出当前函数。",
    "Stop the program where it is.": "让程序就地暂停。",
    "Where it stands, or will stop.": "当前停在哪里，或等它停下。",
    "From the beginning.": "从头开始。",
    "End the debug session.": "结束调试会话。",
    "The variables of this frame, of another scope, or what one holds.": "当前栈帧或其他作用域的变量，或某个变量的内容。",
    "Approvals and trust are given by a person, not by a client of the gateway.": (
        "是否批准操作、是否信任文件夹，由人来决定，网关客户端无权决定。"
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
    "Nothing was started: a person has not approved yet what would run.": "未启动任何程序：还没有人批准将要运行的内容。",
    "The person is asked in the chat.": "已在聊天中询问用户。",
    "Stop at": "停在",
    "Run": "运行",
    "Look": "查看",
    "Terminals": "终端",
    "Record": "记录",
    "`/help COMMAND` explains one. Every tool is a command too: `/help tools` lists them.": (
        "`/help 命令` 解释其中一个。每个工具也都是命令：`/help tools` 列出它们。"
    ),
    "Who called what, to here.": "到此处为止的调用栈。",
    "The lines around this one.": "当前行附近的源码。",
    "One step, into a call.": "单步，进入调用。",
    "What an expression is.": "表达式的值。",
    "Lines of a file.": "文件中的若干行。",
    "What the program printed last.": "程序最近的输出。",
    "The debug sessions.": "所有调试会话。",
    "Why the last command failed.": "上一条命令为何失败。",
    "Commands that ran in terminals.": "在终端中运行过的命令。",
    "What the last command printed.": "上一条命令的输出。",
    "The terminals.": "所有终端。",
    "What a terminal shows.": "终端显示的内容。",
    "Run a command in a terminal of its own.": "在单独的终端中运行命令。",
    "What happened here before.": "这里之前发生过什么。",
    "What runs here.": "这里在运行什么。",
    "Every tool is a command too, with name=value: {names}.": "每个工具也都是命令，参数写成 name=value：{names}。",
    "There is no model here to talk to, but every tool is a command: /why explains the last failure, /start FILE debugs it, /break FILE:LINE stops there. /help lists them.": (
        "这里没有可对话的模型，但每个工具都是命令：/why 解释上一次失败，/start 文件 开始调试，/break 文件:行 在那里停下。/help 列出全部。"
    ),
    "Did you mean {names}?": "你是指 {names} 吗？",
    "The gateway is asked to let us in.": "正在请求网关接纳我们。",
    "Wait a moment; `dragoman gateway status` says how it went.": "请稍候；`dragoman gateway status` 会告知结果。",
    "It is tried again by itself.": "会自动重试。",
    'It let go of us, where its words are "slow consumer" because we read too slowly. It is tried again.': (
        "它断开了我们；若它的说明是 “slow consumer”，则是因为我们读得太慢。会自动重试。"
    ),
    "A message was larger than is taken. It is tried again by itself.": "有消息超过了允许的大小。会自动重试。",
    "It stops or starts again. It is tried again by itself; start it if it stays away.": (
        "它正在停止或重新启动。会自动重试；如果它一直不回来，请启动它。"
    ),
    "It has no room for us now. It is tried again by itself.": "它现在没有空位。会自动重试。",
    "It said nothing for two ticks. It is tried again by itself; look whether it still runs.": (
        "它在两个心跳周期内没有任何消息。会自动重试；请查看它是否仍在运行。"
    ),
    "The token was changed. Set the one that this gateway has now.": "令牌已更换。请设置该网关现在的令牌。",
    "Nobody has asked for a connection yet.": "还没有人要求连接。",
    "Connect with `dragoman gateway connect`. The chat of the page and its agent need no other gateway.": (
        "请用 `dragoman gateway connect` 连接。页面的聊天及其代理不需要别的网关。"
    ),
    "The connection was ended on request.": "连接已按要求结束。",
    "Connect again with `dragoman gateway connect`.": "请用 `dragoman gateway connect` 重新连接。",
    "What the commands do.": "各命令的用途。",
    "/help lists the commands.": "/help 列出所有命令。",
    "There is no command /{name}.": "没有命令 /{name}。",
    "It took longer than {seconds} seconds.": "用时超过 {seconds} 秒。",
    "It used more than {tokens} tokens.": "用量超过 {tokens} 个词元。",
    "It took more than {steps} steps.": "超过了 {steps} 步。",
    "The run was ended: {reason}": "运行已终止：{reason}",
    "Send another message to go on from here.": "再发一条消息即可从这里继续。",
    "The gateway's answer has not the shape that the protocol gives it.": "网关的回答不符合协议规定的格式。",
    "That is not the address of a gateway: {address}": "这不是网关的地址：{address}",
    "It begins with ws:// or wss://, such as ws://127.0.0.1:18789.": "地址以 ws:// 或 wss:// 开头，例如 ws://127.0.0.1:18789。",
    "Its address; that of the settings unless named.": "网关地址；不写则用设置中的地址。",
    "Connecting to the gateway": "正在连接网关",
    "running": "运行中",
    "The gateway has no sessions yet.": "网关上还没有会话。",
    "What you say.": "你要说的话。",
    "The session to say it in.": "在哪个会话中说。",
    "The answer ended early: {reason}": "回答提前结束了：{reason}",
    "{address}: {state}": "{address}：{state}",
    "An OpenClaw gateway: connect to it, and talk to its agents.": "OpenClaw 网关：连接它，并与它的智能体对话。",
    "Connect the daemon to a gateway.": "让守护进程连接网关。",
    "End the connection.": "结束连接。",
    "Show how the connection stands.": "显示连接的状态。",
    "Say something to an agent, and see its answer as it comes.": "对智能体说话，并随到随看它的回答。",
    "List the gateway's sessions.": "列出网关的会话。",
    "Stopped before it answered.": "在回答之前被停止。",
    "Nobody waits for it any more, but a program that runs by now goes on: see Debugger. "
    "`/stop` ends it.": "已不再等待，但已在运行的程序会继续：请看“调试器”。`/stop` 可结束它。",
    "Nobody waits for it any more, but the command goes on in its terminal: see Terminals. "
    "`/run_in_terminal interrupt=true` ends it.": "已不再等待，但命令仍在其终端中运行：请看“终端”。"
    "`/run_in_terminal interrupt=true` 可结束它。",
}
