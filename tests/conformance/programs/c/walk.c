#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct inner { int deep; };
struct point { int x; struct inner inner; };

static int twice(int n) {
    int result = n * 2; // @computes
    return result; // @returns
}

static int lap(void) {
    int total = 0; // @home
    // @moved
    int first = 0, second; // @bound
    struct point point = {1, {42}};
    int big[1000];
    for (int index = 0; index < 1000; index++) big[index] = index;
    first = twice(1); second = twice(first); // @columns
    for (int n = 0; n < 10; n++) {
        total += twice(n); // @calls
        printf("total %d\n", total); // @prints
        fflush(stdout);
    }
    fprintf(stderr, "warned\n");
    usleep(5000); // @done
    return total + second + big[999] + point.x;
}

static void walking(void) {
    for (;;) lap();
}

static void once(void) {
    char line[64] = "", folder[4096];
    if (fgets(line, sizeof line, stdin)) line[strcspn(line, "\n")] = 0;
    printf("read %s\n", line);
    printf("env %s cwd %s\n", getenv("WHO"), getcwd(folder, sizeof folder)); // @reads
    lap();
    exit(3);
}

static int risky(int *nothing) {
    return *nothing; // @raises
}

static void fails(void) {
    printf("caught\n");
    fflush(stdout);
    risky(0); // @uncaught
}

static void *work(void *given) {
    long worked = 0, number = (long)given;
    for (;;) {
        worked += number; // @works
        usleep(10000);
    }
    return 0;
}

static void *idle(void *nothing) {
    for (;;) usleep(10000);
    return nothing;
}

static void threads(void) {
    pthread_t one, two;
    pthread_create(&one, 0, idle, 0);
    pthread_create(&two, 0, work, (void *)2);
    pthread_join(two, 0);
}

static void child(void) {
    int status;
    if (fork() == 0) execl("/proc/self/exe", "walk", "born", (char *)0);
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
}

static void born(void) {
    int inner = twice(21); // @born
    printf("born %d\n", inner);
    exit(5);
}

static void killed(void) {
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    (void)argc;
    struct { const char *name; void (*run)(void); } modes[] = {
        {"walk", walking}, {"once", once}, {"fails", fails}, {"threads", threads},
        {"child", child}, {"born", born}, {"killed", killed},
    };
    for (int at = 0; at < 7; at++) {
        if (!strcmp(argv[1], modes[at].name)) modes[at].run();
    }
    return 0;
}
