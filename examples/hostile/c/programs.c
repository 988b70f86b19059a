/* Programs that misbehave, and values that harm whoever shows them: `programs NAME`. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
    struct node *next;
    const char *name;
};

static int numbers[1000000];
static struct node first, second = {&first, "second"};

static void stop(void) {
    puts("ready"); /* stop here */
    fflush(stdout);
}

static void list(void) {
    int *value = numbers;
    stop();
    printf("%d\n", value[0]);
}

static void string(void) {
    size_t size = 64u << 20;
    char *value = malloc(size);
    memset(value, 's', size - 1);
    value[size - 1] = 0;
    stop();
    free(value);
}

static void cyclic(void) {
    first = (struct node){&second, "first"};
    struct node *value = &first;
    stop();
    printf("%s\n", value->name);
}

static void wild(void) {
    char *value = (char *)0x10;
    stop();
    printf("%p\n", (void *)value);
}

static void unset(void) {
    struct node *value = (struct node *)0xdeadbeef0000;
    stop();
    printf("%p\n", (void *)value);
}

static int deep(int depth) {
    if (depth == 0) {
        stop();
        return 0;
    }
    return 1 + deep(depth - 1);
}

static void dives(void) { printf("%d\n", deep(5000)); }

static void flood(void) {
    char line[1001];
    memset(line, 'x', 999);
    line[999] = '\n';
    line[1000] = 0;
    for (int n = 0; n < 5000; n++)
        fputs(line, stdout);
    stop();
}

static void reads(void) {
    int count = 0;
    while (getchar() != EOF)
        count++;
    printf("read %d\n", count);
    stop();
}

static void forks(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            sleep(600);
        _exit(0);
    }
    stop();
}

static void busy(void) {
    stop();
    for (volatile int n = 0;; n++)
        ;
}

static void segfault(void) { *(volatile int *)0 = 1; }

static void killed(void) { raise(SIGKILL); }

static void exits(void) { exit(3); }

static const struct {
    const char *name;
    void (*run)(void);
} PROGRAMS[] = {
    {"list", list},   {"string", string}, {"cyclic", cyclic}, {"wild", wild},         {"unset", unset},
    {"deep", dives},  {"flood", flood},   {"reads", reads},   {"forks", forks},       {"busy", busy},
    {"abort", abort}, {"killed", killed}, {"exit-3", exits},  {"segfault", segfault},
};

int main(int count, char **words) {
    for (size_t n = 0; n < sizeof PROGRAMS / sizeof *PROGRAMS; n++)
        if (count > 1 && strcmp(PROGRAMS[n].name, words[1]) == 0)
            PROGRAMS[n].run();
    return 0;
}
