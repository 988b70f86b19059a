"""Chinese of the phrases about a person's editor."""

TABLE: dict[str, str] = {
    "An editor cannot call {method} here.": "编辑器不能在此调用 {method}。",
    "Ask the person to open this folder in VS Code (or Cursor, code-server) with the Dragoman extension: it connects by itself. `make vsix` builds the extension.": "请让用户在装有 Dragoman 扩展的 VS Code（或 Cursor、code-server）中打开此文件夹：它会自行连接。`make vsix` 可构建该扩展。",
    "Close a window that is not needed.": "请关闭一个不需要的窗口。",
    "Do not ask again unless the person wishes it. What was refused for good is theirs to allow again.": "除非用户希望，否则不要再次请求。被永久拒绝的操作只能由用户重新允许。",
    "Give one line of plain text; put several commands into a script.": "请给出一行纯文本；多条命令请写入脚本。",
    "It connects again by itself when it is back. Then try again.": "它恢复后会自行重新连接，届时再试。",
    "It may be waiting for the person, who is asked before an agent may do this. Try again later.": "它可能在等待用户：智能体做此操作前会先询问用户。请稍后再试。",
    "Its extension is older than the daemon: ask the person to update it.": "其扩展比守护进程旧：请让用户更新。",
    "Its extension may be of another version than the daemon: ask the person to update it.": "其扩展版本可能与守护进程不同：请让用户更新。",
    "Name one inside of {folder}; the setting allowed_folders adds others.": "请指定 {folder} 之内的文件；设置 allowed_folders 可添加其他文件夹。",
    "No editor is connected that has {folder} open.": "没有已连接的编辑器打开了 {folder}。",
    "The command has line ends or characters that cannot be seen.": "该命令含有换行或不可见字符。",
    "The editor does not have the folder of this session open.": "编辑器没有打开此会话所在的文件夹。",
    "The editor's answer is not one that can be understood.": "无法理解编辑器的回答。",
    "The person at the editor did not allow this.": "编辑器前的用户没有允许此操作。",
    "The session is a person's, in an editor.": "此会话属于用户，在编辑器中进行。",
    "This is not how an editor lends a session.": "编辑器不是这样借出会话的。",
    "This is not how an editor tells of a breakpoint.": "编辑器不是这样告知断点的。",
    "This session is not lent.": "此会话没有借出。",
    "This session cannot be taken, or is lent already.": "无法接收此会话，或它已被借出。",
    "Wait for their answers, then try again.": "请等待它们的回答，然后再试。",
    "accepted: {path} has the proposed text now": "已接受：{path} 现在是所提议的内容",
    "closed without an answer: {path} stays as it was": "未作回答即关闭：{path} 保持原样",
    "no file of the workspace is open": "没有打开工作区中的文件",
    "no text editor has the focus": "没有处于焦点的文本编辑器",
    "not decided yet: the comparison of {path} stays open; the same call again goes on waiting": "尚未决定：{path} 的对比保持打开；再次进行同样的调用可继续等待",
    "nothing is selected; the cursor is at {path}:{line}": "没有选中内容；光标位于 {path}:{line}",
    "opened in the editor: {path}:{line}": "已在编辑器中打开：{path}:{line}",
    "rejected: {path} stays as it was": "已拒绝：{path} 保持原样",
    "selected in {path}, lines {first}-{last}:": "{path} 中第 {first}-{last} 行的选中内容：",
    "shown to the person in the editor": "已在编辑器中向用户显示",
    "the editor knows of no problems": "编辑器没有发现问题",
    "typed into the editor's terminal {name}; the person sees it run": "已输入编辑器的终端 {name}；用户可看到它运行",
    "what is selected is in a file outside of the workspace, and is not told": "选中内容位于工作区之外的文件中，不予告知",
    "Ask the person to start it again: where they allowed it, it is lent again by itself.": (
        "请让用户重新启动它：在用户允许的情况下，它会自动再次借出。"
    ),
    "The person took this session back: it goes on in their editor.": "用户已收回此会话：它会在其编辑器中继续。",
    "[{count} characters of output came too fast and are not here]": "[有 {count} 个字符的输出来得太快，未被收录]",
    "This breakpoint is a person's own, in a session that they lend: it is theirs to change, in their editor.": (
        "此断点是用户自己的，位于其借出的会话中：只能由用户在其编辑器中更改。"
    ),
    "Breakpoints that agents set can be removed; ask the person about the others.": (
        "可以移除智能体设置的断点；其他断点请询问用户。"
    ),
    "A person debugs these in an editor and has not lent them. Ask them to: *Dragoman: Lend this debug session to "
    "agents…*": "用户正在编辑器中调试以下会话，尚未借出。请让用户执行：*Dragoman: 将此调试会话借给智能体…*",
    "{editor} could not do it: {reason}": "{editor} 无法完成：{reason}",
    "{editor} gave no answer within {seconds} seconds.": "{editor} 在 {seconds} 秒内没有回答。",
    "{editor} has not answered the questions before this one.": "{editor} 尚未回答此前的问题。",
    "{editor} is connected and cannot do `{method}`.": "{editor} 已连接，但不能执行 `{method}`。",
    "{editor} left before it answered: it was closed or reloaded.": "{editor} 在回答前离开：它被关闭或重新加载。",
    "{limit} editors are connected; there is no room for another.": "已连接 {limit} 个编辑器；没有空位再接入。",
    "{path}:{line}: {severity}: {message}": "{path}:{line}：{severity}：{message}",
    "{path} is not a file that agents may use here.": "{path} 不是智能体可在此使用的文件。",
}
