#include <stdio.h>

static int twice(int n) {
    int result = n * 2;
    return result;
}

int main(int argc, char **argv) {
    int total = 0;
    char line[64] = "";
    if (argc > 1 && fgets(line, sizeof line, stdin)) {
        printf("read %s", line);
    }
    for (int n = 0; n < 10; n++) {
        total += twice(n);
        printf("total %d\n", total);
    }
    return total == 90 ? 3 : 4;
}
