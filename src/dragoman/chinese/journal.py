"""Chinese of the journal phrases."""

TABLE: dict[str, str] = {
    "An event of {size} characters is larger than the journal takes.": "事件有 {size} 个字符，超过了事件日志的上限。",
    "Write bulk bytes to a segment and record their span.": "请将大块数据写入分段文件，事件中只记录其区间。",
    "An event's body cannot be written as JSON: {reason}.": "事件的内容无法写成 JSON：{reason}。",
    "nested more than {limit} deep": "嵌套超过 {limit} 层",
    "Use only objects, lists, strings, numbers, booleans and null.": "只使用对象、列表、字符串、数字、布尔值和 null。",
    "The disk is full: nothing more can be recorded. What was acknowledged is safe.": (
        "磁盘已满，无法继续记录。已确认的内容不会丢失。"
    ),
    "Free some space; recording goes on by itself.": "请清理磁盘空间，记录会自动继续。",
    "The journal could not be read or written: {reason}.": "无法读取或写入事件日志：{reason}。",
    "Check the disk that holds the journal.": "请检查存放事件日志的磁盘。",
    "The journal is closed.": "事件日志已关闭。",
    "Start Dragoman again.": "请重新启动 Dragoman。",
    "The journal's file is damaged: {reason}.": "事件日志文件已损坏：{reason}。",
    "It is set aside under a dated name, and a fresh journal begins; try again.": (
        "它会以带日期的名称另存，并新建事件日志；请重试。"
    ),
    "The search took too long and was stopped.": "搜索耗时过长，已停止。",
    "Use a rarer word, or more words.": "请换一个更少见的词，或多给几个词。",
    "The journal is busy, or another process holds it.": "事件日志正忙，或被另一个进程占用。",
    "Try again; if it stays so, look for a second daemon.": "请重试；如果仍然如此，请检查是否有第二个守护进程。",
    "The journal refused a statement: {reason}.": "事件日志拒绝了一条语句：{reason}。",
    "Nothing of that call was written; this is a fault of Dragoman, please report it.": (
        "本次调用没有写入任何内容；这是 Dragoman 的缺陷，请反馈问题。"
    ),
    "The journal was written by a newer Dragoman.": "事件日志由更新版本的 Dragoman 写入。",
    "Update Dragoman, or point DRAGOMAN_HOME at another folder.": (
        "请升级 Dragoman，或将 DRAGOMAN_HOME 指向另一个文件夹。"
    ),
    "it is longer than {limit} characters": "它超过 {limit} 个字符",
    "it contains no word": "其中没有任何词",
    "it has more than {limit} words": "它超过 {limit} 个词",
    "The search cannot be run: {reason}.": "无法执行搜索：{reason}。",
    'Give one or more words; "quotes" make a phrase, a closing * finds beginnings.': (
        "请给出一个或多个词；用引号表示短语，词尾的 * 表示按开头匹配。"
    ),
    "An event could not be searched for secrets and was not recorded: {reason}.": (
        "无法检查一个事件中是否含有机密，因此没有记录它：{reason}。"
    ),
    "Look in every workspace, not only the one you are in.": "在所有工作区中查找，而不只是当前工作区。",
    "This folder is outside the workspace; its record is not shown here.": "该文件夹在工作区之外；此处不显示它的记录。",
    "A person can look with `dragoman history --all-workspaces`.": (
        "用户可以用 `dragoman history --all-workspaces` 查看。"
    ),
    "journal searched for secrets of older versions at {at}: {count} rows and {files} files changed": (
        "已于 {at} 检查事件日志中旧版本留下的机密：更改了 {count} 行和 {files} 个文件"
    ),
    "a damaged journal was set aside, where secrets of older versions may be left: {path}": (
        "已损坏的事件日志被另存，其中可能还有旧版本留下的机密：{path}"
    ),
    "Delete it when you do not need it any more; `dragoman forget --all` deletes it too.": (
        "不再需要时请将其删除；`dragoman forget --all` 也会将其删除。"
    ),
    "a file of recorded output could not be searched for secrets: {path}": "无法检查一个终端记录文件中的机密：{path}",
    "Check the disk and the file's owner, then run `dragoman restart`; or erase it with "
    "`dragoman forget --session {session}`.": (
        "请检查磁盘和文件的所有者，然后运行 `dragoman restart`；或用 `dragoman forget --session {session}` 清除它。"
    ),
    "the journal could not be searched for secrets of older versions ({code})": (
        "无法检查事件日志中旧版本留下的机密（{code}）"
    ),
    "Make room on the disk, then run `dragoman restart`; or erase it with `dragoman forget --all`.": (
        "请清理磁盘空间，然后运行 `dragoman restart`；或用 `dragoman forget --all` 清除事件日志。"
    ),
    "the journal is still being searched for secrets of older versions": "仍在检查事件日志中旧版本留下的机密",
    "It goes on by itself. With `redact = false` it is not searched.": (
        "检查会自动继续。设置 `redact = false` 时不检查。"
    ),
    "Check the redaction settings.": "请检查脱敏设置。",
    "A damaged journal was set aside as {name}; a fresh one begins.": "损坏的事件日志已另存为 {name}，并新建了一份。",
    "Another process has the journal in {folder} open.": "另一个进程正在使用 {folder} 中的事件日志。",
    "Stop the other daemon with `dragoman down`.": "请用 `dragoman down` 停止另一个守护进程。",
    "These bytes of {stream} are no longer kept.": "{stream} 的这些字节已不再保留。",
    "They were forgotten, or older than what is kept.": "它们已被清除，或超出了保留期限。",
    "These bytes of {stream} are damaged on the disk.": "{stream} 的这些字节在磁盘上已损坏。",
    "{name} cannot name a stream.": "{name} 不能用作流的名字。",
    "Use letters, digits, - and _, at most 64 of them.": "请只用字母、数字、- 和 _，最多 64 个。",
    "earlier bytes of this stream may not have reached the disk": "此流之前的字节可能没有写入磁盘",
    "{count} events are more than one append takes.": "{count} 个事件超过了一次追加的上限。",
    "Append at most {limit} at a time.": "每次最多追加 {limit} 个。",
    # What events say.
    "daemon started at {address}": "守护进程已启动：{address}",
    "daemon ended at {address}": "守护进程已停止：{address}",
    "failed with exit code {code}": "失败，退出码 {code}",
    "{key} was set at the page": "在页面中更改了设置 {key}",
    "surface {name} removed": "已移除界面 {name}",
    "{name} on {surface}": "在 {surface} 上执行 {name}",
    "{path} changed by an agent behind the gateway": "{path} 由网关的智能体修改",
    "mcp connected": "MCP 客户端已连接",
    "mcp disconnected": "MCP 客户端已断开",
    "workspace trusted": "已信任工作区",
    "workspace distrusted": "不再信任工作区",
    "breakpoint set": "设置断点",
    "breakpoint changed": "修改断点",
    "breakpoint removed": "移除断点",
    "debug started": "启动调试",
    "debug running": "程序开始运行",
    "debug failed": "调试未能启动",
    "debug joined": "加入会话",
    "debug left": "离开会话",
    "debug resumed": "继续运行",
    "debug paused": "暂停",
    "debug stopped": "已停止",
    "debug evaluated": "求值",
    "debug traced": "跟踪",
    "debug variable_set": "修改变量",
    "debug ended": "调试已结束",
    "debug afterwards_failed": "结束后的操作失败",
}
