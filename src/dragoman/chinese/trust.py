"""Chinese of what is said about trust, allowed folders and paths."""

TABLE: dict[str, str] = {
    "Nothing was started: nobody has said yet that what {workspace} holds may run.": (
        "未启动任何程序：{workspace} 还没有得到信任。"
    ),
    "Look at what would run; whoever owns this machine allows it with: dragoman trust {folder}": (
        "请先查看将要运行的内容；本机的主人可以用以下命令信任它：dragoman trust {folder}"
    ),
    "it may not be read": "没有读取权限",
    "it is a link that leads out of the workspace": "它是指向工作区之外的链接",
    "it is a link to what is shown to no agent": "它是链接，指向不向智能体提供的内容",
    "its path is too long": "路径太长",
    "Files elsewhere can be used while a session's call stack names them (step into one first), or when their folder is in the setting allowed_folders.": (
        "其他位置的文件只有在会话的调用栈中出现（请先单步进入），或其文件夹已加入设置 allowed_folders 时才能使用。"
    ),
    "The file path is not valid: no file can have such a name.": "文件路径无效：文件名不合法。",
    "Give an absolute path, or one from the workspace's folder, of at most {limit} characters.": (
        "请给出绝对路径，或相对于工作区文件夹的路径，最多 {limit} 个字符。"
    ),
    "The file path is not valid: it belongs to Dragoman itself or to the system.": (
        "文件路径无效：它属于 Dragoman 自身或系统。"
    ),
    "Such files are shown to no agent, wherever the workspace is.": "无论工作区在哪里，这类文件都不会提供给智能体。",
    "The file path is not valid: it is a folder or a device, not a file.": "文件路径无效：它是文件夹或设备，不是文件。",
    "Give the path of a source file.": "请给出源文件的路径。",
    "There is no folder {folder}.": "没有文件夹 {folder}。",
    "Name the folder whose launch.json and tasks.json may run.": "请指定要信任的文件夹，其中的 launch.json 和 tasks.json 将可以运行。",
    "{folder} holds much more than one project: whatever is put there later could run too.": (
        "{folder} 包含的远不止一个项目：以后放入其中的任何内容也都可以运行。"
    ),
    "{folder} has come to lead to {place} since you were asked about it.": (
        "在询问你之后，{folder} 的指向已变为 {place}。"
    ),
    "Nothing was trusted. Look at what is there, then start again.": "没有信任任何内容。请先查看其中的内容，再重新启动。",
    "Name the project's own folder, or say --yes to trust all of it.": (
        "请指定项目自己的文件夹；如果要信任全部内容，请加上 --yes。"
    ),
    "{folder} was not trusted by itself.": "{folder} 本身没有被信任。",
    "Trusted are: {known}.": "受信任的文件夹：{known}。",
    "Say that what a folder holds may run when an agent asks for it.": "信任一个文件夹，允许智能体运行其中的内容。",
    "The folder; the present one unless named.": "文件夹；省略时为当前文件夹。",
    "Take the word back.": "取消信任。",
    "Show the trusted folders.": "列出受信任的文件夹。",
    "Also where it is as wide as a home folder.": "即使是主目录这样范围很大的文件夹。",
    "The answer as JSON.": "以 JSON 格式输出。",
    "{folder} is no longer trusted. What runs already goes on.": "{folder} 不再受信任。已在运行的程序会继续运行。",
    "Trusted: {folder}. What it holds may run as you when an agent asks for it.": (
        "已信任：{folder}。智能体可以要求以你的身份运行其中的内容。"
    ),
    "Trust is given by a person, not in a terminal or program of an agent.": (
        "信任由人给出，不能在智能体的终端或程序中给出。"
    ),
    "Give it on the page, in the editor, or in a terminal of your own.": "请在页面、编辑器或你自己的终端中给出。",
    "No folder is trusted yet.": "还没有受信任的文件夹。",
    "`{name}` must be the whole path of a folder.": "`{name}` 必须是文件夹的完整路径。",
    "Folders whose files agents may be shown, besides the workspace.": "除工作区之外，智能体还可以查看哪些文件夹中的文件。",
    "a list of folders, each with its whole path or from ~/ on": "文件夹列表，每项为完整路径或以 ~/ 开头的路径",
}
