#include <assert.h>
#include "labels.h"

int main(void)
{
    struct seat a = {'A', 1}, b = {'B', 2};
    assert(same_place(a, a));
    assert(!same_place(a, b));
    return 0;
}
