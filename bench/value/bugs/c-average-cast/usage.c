#include "usage.h"

#define LIMIT 0.8

static double ratio(int used, int size)
{
    if (size <= 0)
        return 1;
    double result = used / size;
    return result;
}

int is_tight(const struct disk *disk)
{
    return ratio(disk->used, disk->size) > LIMIT;
}
