"""Names that are not ASCII, of everything that can have one."""

from __future__ import annotations


class 价格:
    def __init__(self, 数量: int) -> None:
        self.数量 = 数量


def 计算(单价: int, 订单: 价格) -> int:
    总价 = 单价 * 订单.数量
    return 总价  # stop here


if __name__ == "__main__":
    print("总计", 计算(7, 价格(6)))
