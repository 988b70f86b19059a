"""Chinese of the access phrases."""

TABLE: dict[str, str] = {
    "There is nothing at this address.": "此地址没有任何内容。",
    "The tokens in {path} cannot be read.": "无法读取 {path} 中的令牌。",
    "Remove the file: new tokens are made, and clients that used HTTP need the new one.": "请删除该文件：会生成新令牌，使用 HTTP 的客户端需要换用新令牌。",
    "{path} is not used: {reason}.": "不使用 {path}：{reason}。",
    "it is larger than {limit} bytes": "它超过 {limit} 字节",
    "{step}, on the way to it, belongs to another user": "路径上的 {step} 属于另一个用户",
    "every user may rename what is in {step}": "任何用户都可以重命名 {step} 中的内容",
    "it belongs to another user (uid {uid})": "它属于另一个用户（uid {uid}）",
    "it is not a folder, or a symbolic link stands there": "它不是文件夹，或者那里是一个符号链接",
    "it could not be opened: {reason}": "无法打开：{reason}",
    "it is not a regular file": "它不是普通文件",
    "Remove it, or point DRAGOMAN_HOME at a folder of your own.": "请删除它，或将 DRAGOMAN_HOME 指向您自己的文件夹。",
    "The socket's path {path} is longer than {limit} bytes.": "套接字路径 {path} 超过 {limit} 字节。",
    "{path} is in the way: it is not a socket of yours.": "{path} 挡住了位置：它不是您的套接字。",
    "Point DRAGOMAN_HOME at a folder with a shorter path.": "请将 DRAGOMAN_HOME 指向路径更短的文件夹。",
    "The socket {path} is served by another user.": "套接字 {path} 由另一个用户提供服务。",
    "Nothing was sent. Remove it, or point DRAGOMAN_HOME at a folder of your own.": "没有发送任何内容。请删除它，或将 DRAGOMAN_HOME 指向您自己的文件夹。",
    "This is not an address of this server.": "这不是本服务器的地址。",
    "Pages of other origins may not call this server.": "其他来源的页面不得访问本服务器。",
    "A token is needed.": "需要令牌。",
    "Send the header `Authorization: Bearer TOKEN`. On the command line, `token show mcp` prints the token for MCP "
    "clients, and `page` opens the page.": (
        "请发送请求头 `Authorization: Bearer 令牌`。在命令行中，`token show mcp` 会显示 MCP 客户端用的令牌，"
        "`page` 会打开页面。"
    ),
    "Run `dragoman page` in a terminal: the page has an address of its own at each start of the daemon.": "请在终端运行 `dragoman page`：守护进程每次启动时，页面都有自己的新地址。",
    "The page was not built. Run `make page` in the source folder, then restart the daemon.": "页面尚未构建。请在源码目录运行 `make page`，然后重启守护进程。",
    "There is no such token.": "没有这样的令牌。",
    "The purposes are: {purposes}.": "可用的用途：{purposes}。",
    "There is a {purpose} token named {name} already.": "已经有名为 {name} 的 {purpose} 令牌。",
    "Show it with `dragoman token show {purpose} {name}`, or revoke it first.": "用 `dragoman token show {purpose} {name}` 查看，或先撤销它。",
    "Limit reached: {count} {purpose} tokens.": "已达上限：{count} 个 {purpose} 令牌。",
    "Revoke one that is not used: `dragoman token list` shows them.": "请撤销不再使用的令牌：`dragoman token list` 列出全部。",
    "There is no {purpose} token named {name}.": "没有名为 {name} 的 {purpose} 令牌。",
    "`dragoman token list` shows them.": "`dragoman token list` 列出全部令牌。",
    "A client token cannot be named {name}.": "客户端令牌不能命名为 {name}。",
    "Use lower-case letters, digits, `.`, `_` and `-`, at most 60; the purposes are: {purposes}.": "请使用小写字母、数字、`.`、`_` 和 `-`，最多 60 个字符；可用的用途：{purposes}。",
}
