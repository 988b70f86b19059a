#include <assert.h>
#include "ring.h"

int main(void)
{
    struct ring ring;
    ring_clear(&ring);
    for (int value = 10; value <= 60; value += 10)
        ring_push(&ring, value);
    assert(ring_sum(&ring) == 30 + 40 + 50 + 60);
    return 0;
}
