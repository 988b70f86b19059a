/* Preloaded into gdb 13 for the tests. Linux takes the extended state of a processor whole or not at all, and gdb 13 has
 * room for 2,696 of the 11,008 bytes that a processor with AMX has: what it writes is put over the state that is there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

static char whole[65536]; /* gdb writes registers from one thread */

long ptrace(enum __ptrace_request request, ...) {
    static long (*next)(enum __ptrace_request, ...);
    va_list rest;
    va_start(rest, request);
    pid_t pid = va_arg(rest, pid_t);
    void *address = va_arg(rest, void *);
    void *data = va_arg(rest, void *);
    va_end(rest);
    if (!next) next = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
    if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE) {
        struct iovec *part = data, all = {whole, sizeof whole};
        if (next(PTRACE_GETREGSET, pid, address, &all) == 0 && part->iov_len < all.iov_len) {
            memcpy(whole, part->iov_base, part->iov_len);
            return next(request, pid, address, &all);
        }
    }
    return next(request, pid, address, data);
}
