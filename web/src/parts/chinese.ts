import { CHINESE } from "../i18n/chinese";

Object.assign(CHINESE, {
  "this page": "本页面",
  "the command line": "命令行",
  "the chat": "聊天",
  "an agent": "某个代理",
  "a person in {program}": "{program} 中的使用者",
  "Dragoman": "Dragoman",
});
