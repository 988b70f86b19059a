"""What the tools of a checkout tell a person, in their language: before Dragoman, which has its own tables, is there.

Standard library alone, and any Python 3.8.
"""

import os

CHINESE = {
    "Fetching Node, which builds the page": "正在获取构建页面所需的 Node",
    "Building the page": "正在构建页面",
    "The page is not built, so the browser shows a notice in its place.": "页面没有构建成功，浏览器中将显示一条提示。",
    "The page needs Node 20 or newer with npm to be built. Install Node, then try again.": "构建页面需要 Node 20 或更高版本和 npm。请安装 Node，然后重试。",
    "The page could not be built: the lines above say why.": "页面构建失败：原因见上面的输出。",
    "This source archive lacks the page: build the package from a clone of the repository.": "此源码包中没有页面：请从仓库的克隆构建软件包。",
    "Making .venv with {interpreter}": "正在用 {interpreter} 创建 .venv",
    "{interpreter} could not make a virtual environment. Install its venv module (Debian: python3-venv).": "{interpreter} 无法创建虚拟环境。请安装它的 venv 模块（Debian：python3-venv）。",
    "Dragoman needs Python 3.11 or newer; none was found on PATH.": "Dragoman 需要 Python 3.11 或更高版本，PATH 中没有找到。",
    "Installing dragoman and what it needs": "正在安装 dragoman 及其依赖",
    "The adapter {name} could not be installed; its tests will say so.": "无法安装适配器 {name}；相关测试会给出提示。",
    "gdb cannot call functions here; the tests that attach by process ID will say so.": "此处的 gdb 无法调用函数；按进程 ID 附加的测试会给出提示。",
    "The editor could not be installed; the tests of its extension will say so.": "无法安装编辑器；扩展的测试会给出提示。",
    "The editor could not be installed: that needs npm, and a registry that has its packages.": "无法安装编辑器：需要 npm，以及提供其软件包的源。",
    "Some tests need programs that are not here. Install them: {packages}": "部分测试需要本机没有的程序。请安装：{packages}",
    "Installing {packages}": "正在安装 {packages}",
    "apt-get could not install: {packages}": "apt-get 无法安装：{packages}",
    "This failed: {command}": "命令失败：{command}",
    "The extension could not be built: that needs Node 22 or newer with npm, and its packages.": "扩展构建失败：需要 Node 22 或更高版本、npm 及其软件包。",
    "TypeScript was not checked: that needs Node 20 or newer with npm, and its packages.": "没有检查 TypeScript：需要 Node 20 或更高版本、npm 及其软件包。",
    "The wheel could not be built: that needs pip (Debian: python3-pip).": "wheel 构建失败：需要 pip（Debian：python3-pip）。",
}


def in_words(english: str, **values: object) -> str:
    return (CHINESE[english] if is_chinese() else english).format(**values)


def is_chinese() -> bool:
    """`DRAGOMAN_LANG` first, then the locale variables in their POSIX order, as Dragoman itself does."""
    names = ("DRAGOMAN_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    language = next((os.environ[name] for name in names if os.environ.get(name)), "")
    return language.lower().startswith("zh")
