struct seat {
    char row;
    int number;
};

int same_place(struct seat first, struct seat second);
