"""Chinese of what is said about what a start opens or runs: core dumps, folders, commands."""

TABLE: dict[str, str] = {
    "{folder} has several Go programs: {names}.": "{folder} 中有多个 Go 程序：{names}。",
    "{folder} has no Go program: no package `main`, and no tests.": "{folder} 中没有 Go 程序：既没有 `main` 包，也没有测试。",
    "Give `program` the folder of one of them.": "请把 `program` 设为其中一个的文件夹。",
    "Give `program` the folder or file of a package `main`, or of tests with `mode` test.": "请把 `program` 设为 `main` 包的文件夹或文件；要运行测试，请同时把 `mode` 设为 test。",
    "This is a core dump: the program has ended, and cannot run or be stepped.": "这是核心转储：程序已经结束，无法继续运行或单步执行。",
    "Look at its frames, variables and threads. Start the program itself to run it.": "可以查看它的栈帧、变量和线程。要运行程序，请启动程序本身。",
    "The debugger for the type {type} cannot open a core dump. Nothing was started.": "类型 {type} 的调试器无法打开核心转储。没有启动任何程序。",
    "The core dump does not exist: {path}. Nothing was started.": "核心转储不存在：{path}。没有启动任何程序。",
    "A core dump cannot be run: it can only be opened in the debugger.": "核心转储无法运行，只能在调试器中打开。",
    "Open it with the type `lldb`, or `go` for a Go program.": "请用类型 `lldb` 打开；Go 程序请用 `go`。",
    "Correct the path. `cat /proc/sys/kernel/core_pattern` says where the system puts core dumps.": "请更正路径。`cat /proc/sys/kernel/core_pattern` 会显示系统把核心转储放在哪里。",
    "Leave `no_debug` out.": "请去掉 `no_debug`。",
}
