#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

struct Inner { int deep; };
struct Point { int x; Inner inner; };

static int twice(int n) {
    int result = n * 2; // @computes
    return result; // @returns
}

static int lap() {
    int total = 0; // @home
    // @moved
    int first = 0, second; // @bound
    Point point = {1, {42}};
    int big[1000];
    for (int index = 0; index < 1000; index++) big[index] = index;
    first = twice(1); second = twice(first); // @columns
    for (int n = 0; n < 10; n++) {
        total += twice(n); // @calls
        std::cout << "total " << total << std::endl; // @prints
    }
    std::cerr << "warned" << std::endl;
    usleep(5000); // @done
    return total + second + big[999] + point.x;
}

static void walking() {
    for (;;) lap();
}

static void once() {
    std::string line;
    char folder[4096];
    std::getline(std::cin, line);
    std::cout << "read " << line << std::endl;
    std::cout << "env " << getenv("WHO") << " cwd " << getcwd(folder, sizeof folder) << std::endl; // @reads
    lap();
    exit(3);
}

static int risky(int n) {
    if (n > 2)
        throw std::runtime_error("too large: " + std::to_string(n)); // @raises
    return n;
}

static void fails() {
    try {
        risky(3);
    } catch (const std::exception &) {
        std::cout << "caught" << std::endl;
    }
    risky(4); // @uncaught
}

static void work(int number) {
    int worked = 0;
    for (;;) {
        worked += number; // @works
        usleep(10000);
    }
}

static void threads() {
    std::thread one([] { for (;;) usleep(10000); }), two(work, 2);
    two.join();
}

static void child() {
    int status;
    if (fork() == 0) execl("/proc/self/exe", "walk", "born", nullptr);
    wait(&status);
    std::cout << "child " << WEXITSTATUS(status) << std::endl;
}

static void born() {
    int inner = twice(21); // @born
    std::cout << "born " << inner << std::endl;
    exit(5);
}

static void killed() {
    kill(getpid(), SIGKILL);
}

int main(int, char **argv) {
    std::map<std::string, std::function<void()>> modes = {
        {"walk", walking}, {"once", once}, {"fails", fails}, {"threads", threads},
        {"child", child}, {"born", born}, {"killed", killed},
    };
    modes[argv[1]]();
}
