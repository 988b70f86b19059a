#include <cstdio>
#include <limits>

int price(int count, int unit) {
  int total = count * unit;
  return total;
}

int main() {
  std::printf("%d\n", price(std::numeric_limits<int>::max(), 7));
}
