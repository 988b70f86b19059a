/* Counts how often the temperature fell. It fell twice; the program says 0. */
#include <stdint.h>
#include <stdio.h>

static int drops(const uint32_t *readings, int count) {
    int found = 0;
    for (int i = 1; i < count; i++) {
        int fell = readings[i] - readings[i - 1] < 0;
        found += fell;
    }
    return found;
}

int main(void) {
    const uint32_t readings[] = {20, 21, 18, 19, 15};
    printf("drops %d\n", drops(readings, 5));
    return 0;
}
