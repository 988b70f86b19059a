import { CHINESE } from "../i18n/chinese";

Object.assign(CHINESE, {
  "you": "你",
  "the command line": "命令行",
  "the chat": "聊天",
  "an agent": "某个智能体",
  "an agent behind the gateway": "网关另一端的智能体",
  "a person at the terminal": "终端前的使用者",
  "a person in {program}": "{program} 中的使用者",
  "one that is called {name}": "自称 {name} 的一方",
  "Dragoman": "Dragoman",
});
