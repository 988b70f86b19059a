#include <assert.h>
#include "usage.h"

int main(void)
{
    struct disk empty = {"spare", 0, 100}, full = {"home", 45, 50};
    assert(!is_tight(&empty));
    assert(is_tight(&full));
    return 0;
}
