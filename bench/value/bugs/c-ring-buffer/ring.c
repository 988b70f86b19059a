#include "ring.h"

#include <string.h>

void ring_clear(struct ring *ring)
{
    memset(ring, 0, sizeof *ring);
}

void ring_push(struct ring *ring, int value)
{
    int at = ring->head;
    ring->values[at] = value;
    ring->head = at >= RING_SIZE ? 0 : at + 1;
    if (ring->count < RING_SIZE)
        ring->count++;
}

int ring_sum(const struct ring *ring)
{
    int sum = 0;
    for (int i = 0; i < ring->count; i++)
        sum += ring->values[i];
    return sum;
}
