import { CHINESE } from "../i18n/chinese";

Object.assign(CHINESE, {
  "Debug together with your agents": "与你的智能体一起调试",
  "An agent uses the debugger and the terminal here. You see every stop, value and command, and can step in at any time.":
    "智能体在这里使用调试器和终端。每次停止、每个值、每条命令你都看得到，并可随时接手。",
  "{done} of {count} steps done": "已完成 {done}/{count} 步",
  "done: {step}": "已完成：{step}",
  "Programs in a trusted folder may run as you, also when an agent asks for it.":
    "受信任的文件夹中的程序可以你的身份运行，智能体要求时也可以。",
  "Trusted": "已受信任",
  "Not trusted": "未受信任",
  "Trust": "信任",
  "This folder cannot be trusted from the page. Run `{command}` in a terminal.":
    "无法在页面上信任此文件夹，请在终端运行 `{command}`。",
  "Connect an agent": "接入智能体",
  "Your agent finds Dragoman by an entry in its MCP configuration.": "智能体通过其 MCP 配置中的一个条目找到 Dragoman。",
  "Run the demo": "运行演示",
  "An agent looks for a real bug in a small program, and you watch it. Takes about half a minute, in a folder of its own.":
    "一个智能体在一个小程序中查找真实的缺陷，你可以全程观看。约半分钟，在单独的文件夹中进行。",
  "Run it again": "再次运行",
  "Watch it in the debugger": "在调试器中观看",
  "Explain a failing test": "解释失败的测试",
  "Dragoman runs the test once and says which line and which values made it fail. No agent is needed.":
    "Dragoman 运行一次测试，指出是哪一行、哪些值导致失败。不需要智能体。",
  "Choose a test": "选择测试",
  "Open the chat": "打开聊天",
  "Record a shell": "记录 shell",
  "Run this in a terminal: its commands and their output are recorded, and agents can read what failed.":
    "在终端运行此命令：其中的命令及输出会被记录，智能体可以读取失败的原因。",
  "the command": "命令",
  "Demo": "演示",
  "The agent found the bug in {seconds} seconds.": "智能体用 {seconds} 秒找到了缺陷。",
  "The demo did not finish.": "演示未能完成。",
  "Stop the demo": "停止演示",
  "Connect your own agent": "接入自己的智能体",
  "starting…": "正在启动……",
  "asks": "询问",
  "gets": "得到",
  "thinks": "思考",
  "writes": "写入",
  "What the agent does": "智能体的操作",
});
