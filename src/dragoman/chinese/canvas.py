"""Chinese of the canvas phrases."""

TABLE: dict[str, str] = {
    "There is no surface {name}.": "没有界面 {name}。",
    "Surfaces there are: {names}.": "现有的界面：{names}。",
    "The surface has no component {name}.": "该界面没有组件 {name}。",
    "It was changed meanwhile: look at it again.": "它在此期间被修改过：请重新查看。",
    "The canvas holds at most {most} surfaces of all agents together.": "画布上所有代理的界面合计最多 {most} 个。",
    "Remove one with deleteSurface, or ask the person to close some.": "请用 deleteSurface 删除一个，或请用户关闭几个。",
    "More was entered than one action may carry.": "输入的内容超过了一次操作所能携带的量。",
    "Send less at once.": "请一次发送少一些。",
}
