#include <assert.h>
#include <stddef.h>
#include "tree.h"

int main(void)
{
    struct node small = {7, NULL, NULL}, large = {40, NULL, NULL};
    struct node root = {1, &small, &large};
    assert(!is_heavy(&small, 10));
    assert(is_heavy(&root, 20));
    return 0;
}
