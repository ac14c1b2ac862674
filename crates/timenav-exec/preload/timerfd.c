/* Timers that are files and are set to a date. The supervisor gets a duplicate, and sets it again when the clock
 * changes.
 */

#include "preload.h"
#include "../image/clock.h"
#include "../image/waits.h"

enum { ABSOLUTELY = 1, BY_DATE = 3, CLOSE_ON_EXEC = 02000000 };

static int is_virtual(int clock) { return clock == REALTIME || clock == REALTIME_ALARM; }

/* Whether a descriptor is a timer of realtime: the kernel tells (proc_pid_fdinfo(5)), or it was noted. */
static int is_of_realtime(int descriptor) {
    char path[64], text[512], digits[12];
    char *end = copy(path, "/proc/self/fdinfo/"), *digit = digits + sizeof digits - 1;
    unsigned left = (unsigned)descriptor;
    for (*digit = 0; left || !*digit; left /= 10) *--digit = (char)('0' + left % 10);
    copy(end, digit);
    long file = CALL(OPEN, path, CLOSE_ON_EXEC);
    long length = file < 0 ? 0 : CALL(READ, file, text, sizeof text - 1);
    if (file >= 0) CALL(CLOSE, file);
    text[length > 0 ? length : 0] = 0;
    for (const char *at = text; *at; at++) {
        if (!begins(at, "clockid:")) continue;
        for (at += length_of("clockid:"); *at == ' ' || *at == '\t'; at++) {}
        return (*at == '0' || *at == '8') && at[1] == '\n';
    }
    return is_noted((u64)descriptor, DESCRIPTOR);
}

static long create_timerfd(int clock, int flags) {
    long descriptor = CALL(TIMERFD_CREATE, clock, flags);
    if (descriptor < 0) return descriptor;
    forget((u64)descriptor, DESCRIPTOR);
    if (is_virtual(clock)) note((u64)descriptor, DESCRIPTOR);
    return descriptor;
}

long settle_timerfd(int descriptor, int flags, const void *asked, void *old) {
    const struct itimerspec *new = asked;
    int is_date = flags & ABSOLUTELY && new && on_clock() && is_right(&new->value) && is_right(&new->interval)
        && (new->value.sec || new->value.nsec);
    if (!is_date || !is_of_realtime(descriptor)) return CALL(TIMERFD_SETTIME, descriptor, flags, new, old);
    struct itimerspec length = *new;
    struct timespec before, after;
    until_then(REALTIME, &length.value);
    ORIGINALS.clock_gettime(MONOTONIC, &before);
    long result = CALL(TIMERFD_SETTIME, descriptor, flags & ~BY_DATE, &length, old);
    ORIGINALS.clock_gettime(MONOTONIC, &after);
    if (result) return result;
    i64 left = length.value.sec * NANOS + length.value.nsec;
    struct timer_told told = {OF_TIMER, new->value, new->interval, 0, 0};
    told.from = before.sec * NANOS + before.nsec + left;
    told.to = after.sec * NANOS + after.nsec + left;
    tell_of_timer(descriptor, &told);
    return 0;
}

/* Answers the calls of this file for `syscall`; returns whether it is one. */
int answers_timerfd(long number, const u64 *asked, long *result) {
    if (number == TIMERFD_CREATE) {
        *result = create_timerfd((int)asked[0], (int)asked[1]);
        return 1;
    }
    if (number != TIMERFD_SETTIME) return 0;
    *result = settle_timerfd((int)asked[0], (int)asked[1], (const void *)asked[2], (void *)asked[3]);
    return 1;
}

SHOWN int timerfd_create(int clock, int flags) { return (int)by_errno(create_timerfd(clock, flags)); }

SHOWN int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
    return (int)by_errno(settle_timerfd(descriptor, flags, new, old));
}
