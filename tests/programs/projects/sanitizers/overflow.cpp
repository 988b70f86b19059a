#include <cstdio>

int sum(const int *prices, int count) {
  int total = 0;
  for (int at = 0; at <= count; at++) {
    total += prices[at];
  }
  return total;
}

int main() {
  int count = 4;
  int *prices = new int[count]{1, 2, 3, 4};
  std::printf("%d\n", sum(prices, count));
  delete[] prices;
}
