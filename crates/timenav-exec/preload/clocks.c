/* What time it is, and that nobody sets it. */

#include "preload.h"
#include "../image/clock.h"

struct timex {
    unsigned modes, pad;
    i64 offset, frequency, most, estimated;
    int status, pad2;
    i64 constant, precision, tolerance;
    struct timeval time;
    i64 rest[15];
};
struct ntptimeval { struct timeval time; i64 most, estimated, tai, rest[4]; };
struct timeb { i64 time; unsigned short milliseconds; short zone, summer; };
/* Where, in what has no name here, the offset of atomic time is. */
enum { TAI_AT = 9 };
enum { ASKS = 0, READS_OFFSET = 0xa001, IN_NANOS = 0x2000, UTC = 1 };

static long told_clock(int id, struct timespec *shown) {
    return on_clock() && tell(id, shown) ? 0 : ORIGINALS.clock_gettime(id, shown);
}

static long told_day(struct timeval *shown, void *zone) {
    if (!on_clock()) return CALL(GETTIMEOFDAY, shown, zone);
    if (zone) CALL(GETTIMEOFDAY, 0, zone);
    if (shown) {
        struct timespec now;
        show(&now, 0);
        shown->sec = now.sec;
        shown->usec = now.nsec / 1000;
    }
    return 0;
}

static i64 told_seconds(i64 *shown) {
    struct timespec now;
    told_clock(REALTIME, &now);
    if (shown) *shown = now.sec;
    return now.sec;
}

/* Answers who asks how the clock is kept, and refuses who wants to keep it. */
static long adjust(int clock, struct timex *asked) {
    if (!on_clock()) return CALL(CLOCK_ADJTIME, clock, asked);
    if (clock != REALTIME) return -NO_OPERATION;
    if (asked->modes != ASKS && asked->modes != READS_OFFSET) return -NOT_PERMITTED;
    long state = CALL(ADJTIMEX, asked);
    struct timespec now;
    show(&now, 0);
    asked->time.sec = now.sec;
    asked->time.usec = asked->status & IN_NANOS ? now.nsec : now.nsec / 1000;
    return state;
}

static long set(int clock, const struct timespec *to) {
    return on_clock() && clock == REALTIME ? -NOT_PERMITTED : CALL(CLOCK_SETTIME, clock, to);
}

static long set_day(const struct timeval *to, const void *zone) {
    return on_clock() ? -NOT_PERMITTED : CALL(SETTIMEOFDAY, to, zone);
}

/* Answers the calls of this file for `syscall`; returns whether it is one. */
int answers_clock(long number, const u64 *asked, long *result) {
    switch (number) {
    case CLOCK_GETTIME: *result = told_clock((int)asked[0], (struct timespec *)asked[1]); return 1;
    case GETTIMEOFDAY: *result = told_day((struct timeval *)asked[0], (void *)asked[1]); return 1;
    case TIME: *result = told_seconds((i64 *)asked[0]); return 1;
    case ADJTIMEX: *result = adjust(REALTIME, (struct timex *)asked[0]); return 1;
    case CLOCK_ADJTIME: *result = adjust((int)asked[0], (struct timex *)asked[1]); return 1;
    case CLOCK_SETTIME: *result = set((int)asked[0], (const struct timespec *)asked[1]); return 1;
    case SETTIMEOFDAY: *result = set_day((const struct timeval *)asked[0], (const void *)asked[1]); return 1;
    default: return 0;
    }
}

SHOWN int clock_gettime(int id, struct timespec *shown) { return (int)by_errno(told_clock(id, shown)); }
SHOWN int __clock_gettime(int id, struct timespec *shown) { return (int)by_errno(told_clock(id, shown)); }
SHOWN int gettimeofday(struct timeval *shown, void *zone) { return (int)by_errno(told_day(shown, zone)); }
SHOWN int __gettimeofday(struct timeval *shown, void *zone) { return (int)by_errno(told_day(shown, zone)); }
SHOWN i64 time(i64 *shown) { return told_seconds(shown); }

SHOWN int timespec_get(struct timespec *shown, int base) {
    if (base == UTC) return told_clock(REALTIME, shown) ? 0 : base;
    __typeof__(&timespec_get) next = NEXT(timespec_get);
    return next ? next(shown, base) : 0;
}

SHOWN int ftime(struct timeb *shown) {
    struct timespec now;
    told_clock(REALTIME, &now);
    *shown = (struct timeb){now.sec, (unsigned short)(now.nsec / 1000000), 0, 0};
    return 0;
}

SHOWN int clock_settime(int id, const struct timespec *to) { return (int)by_errno(set(id, to)); }
SHOWN int settimeofday(const struct timeval *to, const void *zone) { return (int)by_errno(set_day(to, zone)); }
SHOWN int adjtimex(struct timex *asked) { return (int)by_errno(adjust(REALTIME, asked)); }
SHOWN int __adjtimex(struct timex *asked) { return (int)by_errno(adjust(REALTIME, asked)); }
SHOWN int ntp_adjtime(struct timex *asked) { return (int)by_errno(adjust(REALTIME, asked)); }

/* What `adjtimex` tells, in fewer words; the older one of the two leaves the last of them alone. */
static int ntp(struct ntptimeval *told, int is_older) {
    struct timex all = {.modes = ASKS};
    long state = adjust(REALTIME, &all);
    if (state < 0) return (int)by_errno(state);
    told->time = all.time;
    told->most = all.most;
    told->estimated = all.estimated;
    if (is_older) return (int)state;
    told->tai = (int)all.rest[TAI_AT];
    for (int i = 0; i < 4; i++) told->rest[i] = 0;
    return (int)state;
}

SHOWN int ntp_gettime(struct ntptimeval *told) { return ntp(told, 1); }
SHOWN int ntp_gettimex(struct ntptimeval *told) { return ntp(told, 0); }

SHOWN int clock_adjtime(int id, struct timex *asked) { return (int)by_errno(adjust(id, asked)); }

SHOWN int stime(const i64 *to) {
    struct timespec at = {*to, 0};
    return (int)by_errno(set(REALTIME, &at));
}

SHOWN int adjtime(const struct timeval *by, struct timeval *left) {
    if (on_clock() && by) return (int)by_errno(-NOT_PERMITTED);
    __typeof__(&adjtime) next = NEXT(adjtime);
    return next ? next(by, left) : (int)by_errno(-NOT_SUPPORTED);
}
