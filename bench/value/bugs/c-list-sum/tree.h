struct node {
    int weight;
    struct node *first;
    struct node *second;
};

int weigh(const struct node *node);
int is_heavy(const struct node *node, int limit);
