/* What the benchmark of stalls steps through. */
#include <stdio.h>

int main(void) {
    int result = 0;
    for (int number = 0; number < 45; number++) {
        int doubled = number * 2;
        result += doubled;
        if (result % 7 == 0)
            result++;
        printf("round %d %d\n", number, result);
    }
    return 0;
}
