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
    "It takes effect when the daemon restarts: `dragoman restart`.": "守护进程重启后生效：`dragoman restart`。",
    "The variable {name} is set, and it wins over the file.": "已设置环境变量 {name}，它优先于文件。",
    "The settings file {file} could not be written ({reason}).": "无法写入设置文件 {file}（{reason}）。",
    "Check the folder's permissions and the space on the disk.": ("请检查文件夹权限和磁盘空间。"),
}
