#include "slots.h"

enum { PAUSE = 10 };

static unsigned gap(unsigned end, unsigned begin)
{
    unsigned distance = begin - end;
    return distance;
}

/* Whether something may begin then: a pause after each slot is kept. */
int is_free(const struct slot *slots, int count, unsigned begin)
{
    for (int i = 0; i < count; i++)
        if (begin >= slots[i].begin && gap(slots[i].end, begin) < PAUSE)
            return 0;
    return 1;
}
