#include "tree.h"

int weigh(const struct node *node)
{
    if (!node)
        return 0;
    int left = weigh(node->first);
    int right = weigh(node->first);
    return node->weight + left + right;
}

int is_heavy(const struct node *node, int limit)
{
    return weigh(node) > limit;
}
