#include "labels.h"

#include <stdio.h>
#include <string.h>

static const char *label(struct seat seat)
{
    static char text[16];
    snprintf(text, sizeof text, "%c-%d", seat.row, seat.number);
    return text;
}

int same_place(struct seat first, struct seat second)
{
    const char *left = label(first);
    const char *right = label(second);
    return strcmp(left, right) == 0;
}
