#include <assert.h>
#include "words.h"

int main(void)
{
    assert(mean_length("one, two.") == 3.0);
    assert(mean_length("red fox ran") == 3.0);
    return 0;
}
