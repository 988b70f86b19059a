import { CHINESE } from "../i18n/chinese";

Object.assign(CHINESE, {
  "you": "你",
  "the command line": "命令行",
  "the chat": "聊天",
  "an agent": "某个智能体",
  "an agent behind the gateway": "网关另一端的智能体",
  "a person at the terminal": "终端前的用户",
  "a person in {program}": "{program} 中的用户",
  "a client named {name}": "自称 {name} 的客户端",
  "Dragoman": "Dragoman",
  "Copy": "复制",
  "Copy: {what}": "复制：{what}",
  "Copied.": "已复制。",
  "Copied: {what}": "已复制：{what}",
  "The browser blocked copying. Select the text and copy it yourself.": "浏览器不允许复制：请选中文字后自行复制。",
});
