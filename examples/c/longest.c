/* The longest of three words. It should be "cherry"; the program says "banana". */
#include <stdio.h>
#include <string.h>

static const char *longest(const char *const *words, int count) {
    const char *best = words[0];
    size_t most = 0;
    for (int i = 0; i < count - 1; i++) {
        size_t length = strlen(words[i]);
        if (length >= most) {
            best = words[i];
            most = length;
        }
    }
    return best;
}

int main(void) {
    const char *words[] = {"fig", "banana", "cherry"};
    printf("longest %s\n", longest(words, 3));
    return 0;
}
