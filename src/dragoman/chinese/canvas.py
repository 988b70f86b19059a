"""Chinese of the canvas phrases."""

TABLE: dict[str, str] = {
    "Passed on to the agent that drew the surface.": "已转交给绘制该界面的代理。",
    "There is no surface {name}.": "没有界面 {name}。",
    "Surfaces there are: {names}.": "现有的界面：{names}。",
    "The surface has no component {name}.": "该界面没有组件 {name}。",
    "It was changed meanwhile: look at it again.": "它在此期间被修改过：请重新查看。",
    "The canvas holds at most {most} surfaces of all agents together.": "画布上所有代理的界面合计最多 {most} 个。",
    "Remove one with deleteSurface, or ask the person to close some.": "请用 deleteSurface 删除一个，或请用户关闭几个。",
    "More was entered than one action may carry.": "输入的内容超过了一次操作所能携带的量。",
    "Nothing was drawn: {reason}": "什么也没有绘制：{reason}",
    "Repair it at {pointer} and send all of it again.": "请在 {pointer} 处修正，然后重新发送全部内容。",
    "There is nothing to draw in this call.": "这次调用没有可绘制的内容。",
    "Give components, data or messages; list_components shows what there is.": (
        "请给出 components、data 或 messages；list_components 列出可用组件。"
    ),
    "removed: {name}": "已移除：{name}",
    "warning: {name} shows as a placeholder: no component {type}; {near}?": (
        "警告：{name} 只显示为占位符：没有组件 {type}；是否指 {near}？"
    ),
    "warning: {name} shows as a placeholder: no component {type}; see list_components.": (
        "警告：{name} 只显示为占位符：没有组件 {type}；请看 list_components。"
    ),
    "stopped at {place}": "停在 {place}",
    "call stack": "调用栈",
    "output": "输出",
    "errors": "错误",
    "in {folder}, exit code {code}": "在 {folder} 中，退出码 {code}",
    "failed: {command}": "失败：{command}",
    "search_commands finds others; subject_id names one.": "search_commands 可以查找其他命令；subject_id 指定一个。",
    "shown: {name} (version {version})": "已显示：{name}（版本 {version}）",
    "shown: {name} (version {version}), but no page is open: `dragoman page` prints a link for the person.": (
        "已显示：{name}（版本 {version}），但没有打开的页面：`dragoman page` 会为用户打印链接。"
    ),
    "Nobody acted in this time; call again to go on waiting.": "这段时间内没有人操作；再次调用可继续等待。",
    "The person closed the questions without an answer.": "用户没有回答就关闭了问题。",
    "No answer in this time. The questions are closed, which the person sees: ask again if you still need it.": (
        "这段时间内没有回答。问题已关闭，用户看得到：如仍需要，请再次询问。"
    ),
    "Closed: no answer came in time, and who asked has gone on.": "已关闭：没有及时得到回答，提问者已继续。",
    "This was closed before: who asked has gone on without an answer.": "它已被关闭：提问者没有等到回答，已经继续。",
    "Say it in the chat, or wait until it is asked again.": "请在聊天中说明，或等待再次询问。",
    "There is no component {name}.": "没有组件 {name}。",
    "The surface does not take this: {reason}": "界面不接受此操作：{reason}",
    "Send an object with: {names}.": "请发送包含以下字段的对象：{names}。",
}
