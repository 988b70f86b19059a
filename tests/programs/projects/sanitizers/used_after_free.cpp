#include <string>
#include <cstdio>

struct Order {
  int count;
  int unit;
};

int price(const Order *order) {
  int unit = order->unit;
  return order->count * unit;
}

void close(Order *order) { delete order; }

int main() {
  auto *order = new Order{3, 7};
  close(order);
  std::printf("%d\n", price(order));
}
