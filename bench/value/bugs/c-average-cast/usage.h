struct disk {
    const char *name;
    int used;
    int size;
};

int is_tight(const struct disk *disk);
