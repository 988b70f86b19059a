#include <assert.h>
#include "slots.h"

int main(void)
{
    struct slot slots[] = {{540, 600}, {660, 720}};
    assert(is_free(slots, 2, 615));
    assert(!is_free(slots, 2, 605));
    assert(!is_free(slots, 2, 700));
    return 0;
}
