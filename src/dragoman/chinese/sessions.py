"""Chinese of the phrases about debug sessions."""

TABLE: dict[str, str] = {
    "The debugger refused `{command}`: {reason}": "调试器拒绝了 `{command}`：{reason}",
    "The program is not stopped: the session is {state}.": "程序没有暂停：会话状态为 {state}。",
    "Wait for a stop, set a breakpoint where it will come by, or pause it.": "请等待暂停，在它会经过的位置设置断点，或将其暂停。",
    "Only a running program can be paused: the session is {state}.": "只有正在运行的程序才能暂停：会话状态为 {state}。",
    "A stopped one can be stepped, continued and looked at.": "已暂停的程序可以单步、继续和查看。",
    "The session has ended.": "会话已结束。",
    "Start it again to go on; breakpoints are kept.": "请重新启动以继续；断点会保留。",
    "The session moved on: it is now at stop {number}, caused by {who}.": "会话已前进：现在处于第 {number} 次暂停，由{who}引起。",
    "another client": "另一个客户端",
    "Look at the latest stop, then decide again.": "请查看最近一次暂停，然后重新决定。",
    "The debugger answered with something that cannot be read: {reason}": "调试器的回答无法读取：{reason}",
    "The debugger did not get ready in time.": "调试器未能及时就绪。",
    "See the session's output; a program that waits for input or a slow build may be the reason.": "请查看会话输出；程序等待输入或构建缓慢可能是原因。",
    "{number} belongs to an earlier stop.": "{number} 属于之前的一次暂停。",
    "{number} was never handed out by this session.": "此会话从未给出过 {number}。",
    "Take a frame or variables reference from the latest stop.": "请使用最近一次暂停中的帧或变量引用。",
    "This stop has handed out as many references as it can.": "此次暂停给出的引用已达上限。",
    "Step or continue: the next stop starts afresh.": "请单步或继续：下一次暂停会重新开始。",
    "{text} is not a hit condition.": "{text} 不是命中条件。",
    "Write a count with an optional comparison: 3, == 3, > 5, >= 8, % 2 == 0, % 3.": "请写一个次数，可带比较：3、== 3、> 5、>= 8、% 2 == 0、% 3。",
}
