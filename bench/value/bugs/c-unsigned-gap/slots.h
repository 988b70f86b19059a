struct slot {
    unsigned begin;
    unsigned end;
};

int is_free(const struct slot *slots, int count, unsigned begin);
