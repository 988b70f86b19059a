"""Chinese of the canvas phrases."""

TABLE: dict[str, str] = {
    "Passed on to the agent that drew the surface.": "已转交给绘制该界面的智能体。",
    "There is no surface {name}.": "没有名为 {name} 的界面。",
    "Surfaces there are: {names}.": "现有的界面：{names}。",
    "The surface has no component {name}.": "该界面没有组件 {name}。",
    "It was changed meanwhile: look at it again.": "它在此期间已被修改，请重新查看。",
    "The canvas holds at most {most} surfaces of all agents together.": "画布上所有智能体的界面合计最多 {most} 个。",
    "Remove one with deleteSurface, or ask the person to close some.": "请用 deleteSurface 删除一个，或请用户关闭几个。",
    "More was entered than one action may carry.": "输入的内容超过了单次操作的上限。",
    "Nothing was drawn: {reason}": "未绘制任何内容：{reason}",
    "Repair it at {pointer} and send all of it again.": "请在 {pointer} 处修正，然后重新发送全部内容。",
    "There is nothing to draw in this call.": "本次调用没有要绘制的内容。",
    "Give components, data or messages; list_components shows what there is.": (
        "请给出 components、data 或 messages；用 list_components 查看可用组件。"
    ),
    "removed: {name}": "已移除：{name}",
    "warning: {name} shows as a placeholder: no component {type}; {near}?": (
        "警告：{name} 显示为占位符：没有组件 {type}；是否指 {near}？"
    ),
    "warning: {name} shows as a placeholder: no component {type}; see list_components.": (
        "警告：{name} 显示为占位符：没有组件 {type}；可用组件见 list_components。"
    ),
    "stopped at {place}": "停在 {place}",
    "call stack": "调用栈",
    "output": "输出",
    "errors": "错误",
    "in {folder}, exit code {code}": "在 {folder} 中，退出码 {code}",
    "failed: {command}": "失败：{command}",
    "search_commands finds others; subject_id names one.": "search_commands 可查找其他命令；用 subject_id 指定其中一条。",
    "shown: {name} (version {version})": "已显示：{name}（版本 {version}）",
    "shown: {name} (version {version}), but no page is open: `dragoman page` prints a link for the person.": (
        "已显示：{name}（版本 {version}），但没有打开的页面：用户可用 `dragoman page` 获取链接。"
    ),
    "Nobody acted in this time; call again to go on waiting.": "在此期间没有人操作；再次调用可继续等待。",
    "The person closed the questions without an answer.": "用户未回答就关闭了提问。",
    "No answer in this time. The questions are closed, which the person sees: ask again if you still need it.": (
        "在此期间没有收到回答。提问已关闭，用户能看到这一点；如仍需要，请重新提问。"
    ),
    "Closed: no answer came in time, and who asked has gone on.": "已关闭：未及时收到回答，提问者已继续。",
    "This was closed before: who asked has gone on without an answer.": "提问已关闭：提问者没有等到回答，已经继续。",
    "Say it in the chat, or wait until it is asked again.": "请在聊天中说明，或等待再次提问。",
    "There is no component {name}.": "没有组件 {name}。",
    "The surface does not take this: {reason}": "该界面不接受此操作：{reason}",
    "Send an object with: {names}.": "请发送包含以下字段的对象：{names}。",
}
