/* System calls that a program makes by the C library's `syscall`. */

#include "preload.h"

int answers_clock(long number, const u64 *asked, long *result);
int answers_wait(long number, const u64 *asked, long *result);
int answers_timerfd(long number, const u64 *asked, long *result);

SHOWN long syscall(long number, ...) {
    u64 asked[6];
    long result;
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) asked[i] = va_arg(list, u64);
    va_end(list);
    if (number == EXECVE) {
        result = execute(-100, (const char *)asked[0], (char *const *)asked[1], (char *const *)asked[2], 0, 0);
    } else if (number == EXECVEAT) {
        result = execute((int)asked[0], (const char *)asked[1], (char *const *)asked[2], (char *const *)asked[3],
                         (int)asked[4], 1);
    } else if (!answers_clock(number, asked, &result) && !answers_wait(number, asked, &result)
               && !answers_timerfd(number, asked, &result)) {
        result = call((u64)number, asked[0], asked[1], asked[2], asked[3], asked[4], asked[5]);
    }
    return by_errno(result);
}
