"""Chinese of the settings phrases."""

TABLE: dict[str, str] = {
    "The port of the page and of the HTTP interfaces; 0 takes any free one.": (
        "网页和各 HTTP 接口的端口；0 表示任取一个空闲端口。"
    ),
    "The address the daemon listens on.": "守护进程监听的地址。",
    "Whether bind may be an address that other machines can reach.": "bind 是否可以是其他机器能访问的地址。",
    "Whether an editor may start the daemon when it opens.": "编辑器打开时是否可以启动守护进程。",
    "Whether `dragoman mcp` starts the daemon when none runs.": ("没有守护进程运行时，`dragoman mcp` 是否启动一个。"),
    "How much the daemon writes to its log.": "守护进程日志的详细程度。",
    "How many days the journal keeps what happened.": "日志簿保留事件的天数。",
    "How many megabytes the journal may take before its oldest part goes.": (
        "日志簿最多占用多少兆字节，超出后先删除最旧的部分。"
    ),
    "How many seconds a debug session lives on after the last call about it.": (
        "调试会话在最后一次相关调用之后还保留多少秒。"
    ),
    "Whether secrets are hidden from agents, in values, output and messages.": (
        "是否对代理隐藏值、输出和消息中的机密。"
    ),
    "More names whose texts are secrets, besides those known for it such as password.": (
        "除 password 等已知名称外，还有哪些名称的文本是机密。"
    ),
    "a list of names, each of letters, digits and _": "名称的列表，每个名称由字母、数字和 _ 组成",
    "the variable {name}": "环境变量 {name}",
    "{file}, line {line}": "{file} 第 {line} 行",
    "the default": "默认值",
    "the value given": "给出的值",
    "There is no setting {key}.": "没有名为 {key} 的设置。",
    "The variable {name} is not read by anything. {hint}": "环境变量 {name} 不起任何作用。{hint}",
    "it cannot be edited ({reason})": "无法编辑（{reason}）",
    "opening it failed ({reason})": "打开失败（{reason}）",
    "reading it failed ({reason})": "读取失败（{reason}）",
    "it is a folder or a device, not a file": "它是文件夹或设备，不是文件",
    "its owner is another user (uid {uid})": "它属于另一个用户（uid {uid}）",
    "every user may write to it": "任何用户都可以写入它",
    "it is longer than {limit} bytes": "它超过了 {limit} 字节",
    "line {line} is not UTF-8": "第 {line} 行不是 UTF-8",
    "{file}, {place}: this is not TOML: {reason}.": "{file} {place}：这不是 TOML：{reason}。",
    "Correct the line; `dragoman config path` prints where the file is.": (
        "请改正该行；`dragoman config path` 会显示文件的位置。"
    ),
    "line {line}, column {column}": "第 {line} 行第 {column} 列",
    "line {line}": "第 {line} 行",
    "{source}: bind is {value}, which other machines may reach.": "{source}：bind 是 {value}，其他机器可能访问得到。",
    "Use 127.0.0.1 or ::1; or, if that is what you want, set allow_remote = true as well.": (
        "请使用 127.0.0.1 或 ::1；如果确实需要，请同时设置 allow_remote = true。"
    ),
    "{source}: there is no setting {key}.": "{source}：没有名为 {key} 的设置。",
    "{source}: {key} is {value}, but it must be {allowed}.": "{source}：{key} 是 {value}，而允许的是：{allowed}。",
    "Without it, {key} is {default}.": "不写这一项时，{key} 是 {default}。",
    "Did you mean {name}?": "您是不是想写 {name}？",
    "`dragoman config list` shows every setting.": "`dragoman config list` 会列出所有设置。",
    "The settings file {file} cannot be used: {reason}.": "无法使用设置文件 {file}：{reason}。",
    "Put that right, or remove it: every setting has a default.": "请改正，或者删除该文件：每项设置都有默认值。",
    "a whole number from {low} to {high}": "{low} 到 {high} 之间的整数",
    "true or false": "true 或 false",
    "one of {choices}": "以下之一：{choices}",
    "an IP address such as 127.0.0.1 or ::1, not a host name": "IP 地址，例如 127.0.0.1 或 ::1，不能是主机名",
    "{key} = {value}  ({source})": "{key} = {value}（{source}）",
    "    {about}": "    {about}",
    "{key} is now {value}.": "{key} 现在是 {value}。",
    "A list is written as `one,two`, or as the file has it: {example}.": (
        "列表写作 `one,two`，或像文件中那样：{example}。"
    ),
    "It takes effect when the daemon restarts: `dragoman restart`.": "守护进程重启后生效：`dragoman restart`。",
    "It counts in every wrapped shell that is opened from now on.": "对此后打开的每个被包裹的 shell 生效。",
    "The variable {name} is set, and it wins over the file.": "已设置环境变量 {name}，它优先于文件。",
    "The settings file {file} could not be written ({reason}).": "无法写入设置文件 {file}（{reason}）。",
    "Check the folder's permissions and the space on the disk.": ("请检查文件夹权限和磁盘空间。"),
    "The key that opens a question line in a wrapped shell.": "在被包裹的 shell 中打开提问行的按键。",
    "The key that takes a suggestion in a wrapped shell; End always does.": "在被包裹的 shell 中接受建议的按键；End 键始终有效。",
    "The key that pauses and resumes the recording of a wrapped shell.": "暂停和恢复被包裹 shell 的记录的按键。",
    "Whether a wrapped shell shows how a command may go on, in dim text.": "被包裹的 shell 是否用暗色文字提示命令的后续。",
    "Whether keys typed into full-screen and remote programs are recorded too.": "是否也记录输入到全屏程序和远程程序中的按键。",
    "Commands that are not recorded, nor their output: patterns such as `vault *`.": "不记录的命令及其输出：如 `vault *` 的模式。",
    "Texts in a terminal's output that are told as events, such as `segmentation fault`.": "终端输出中作为事件通知的文字，例如 `segmentation fault`。",
    "Whether a failed command is explained in one dim line without being asked.": "命令失败时是否不经询问就用一行暗色文字解释。",
    "How many seconds lie at least between two such lines.": "两次这样的解释之间至少相隔多少秒。",
    "How many days the output of terminals is kept.": "终端输出保留的天数。",
    "The kind of language model that answers questions; none works without one.": "回答问题的语言模型的种类；none 表示不用模型。",
    "The model's name, as its provider spells it.": "模型的名称，按其提供方的写法。",
    "Where the model is asked; empty takes the provider's own address.": "向模型提问的地址；留空则用提供方自己的地址。",
    "The variable that holds the model's key.": "保存模型密钥的环境变量。",
    "The command that prints the model's key, as a list of words.": "打印模型密钥的命令，写成单词列表。",
    "Whether the model may improve suggestions of commands.": "模型是否可以改进命令建议。",
    "a key such as alt-/ or ctrl-alt-p, or : alone": "一个按键，例如 alt-/ 或 ctrl-alt-p，或单独的 :",
    "a list of patterns, each of at most 200 characters": "模式列表，每个最多 200 个字符",
    "a list of words": "单词列表",
    "an address that begins with http:// or https://": "以 http:// 或 https:// 开头的地址",
    "a name": "一个名称",
    "an address that begins with ws:// or wss://": "以 ws:// 或 wss:// 开头的地址",
    "a file with its whole path or from ~/ on": "文件的完整路径，或以 ~/ 开头的路径",
    "Where `dragoman gateway connect` finds an OpenClaw gateway.": "`dragoman gateway connect` 连接的 OpenClaw 网关地址。",
    "The variable that holds that gateway's token.": "保存该网关令牌的环境变量。",
    "The file that holds that gateway's token; only you may read it (mode 0600).": "保存该网关令牌的文件；只有你可以读取（权限 0600）。",
    "Whether a lost gateway is tried again without end, instead of ten times.": "与网关断开后是否不限次数地重连，而不是十次。",
    "Whether chats with our own gateway are those of that one, instead of our own agent's.": "与我们自己网关的对话是否转到那个网关，而不是由我们自己的智能体回答。",
    "{key} is not changed from a page.": "{key} 不能在页面上更改。",
    "From a page: an address of this machine, or none for the provider's own.": "在页面上：只能是本机的地址，或留空以使用提供方自己的地址。",
    "From a page: an address of this machine.": "在页面上：只能是本机的地址。",
    "Run `dragoman config set {key} …` in a terminal.": "请在终端运行 `dragoman config set {key} …`。",
}
