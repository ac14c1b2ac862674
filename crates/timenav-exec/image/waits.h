/* Waits and sleeps until a moment of realtime, made by a thread itself: in slices, after each of which it looks at the
 * clock again. For the image and for the library that is loaded into programs, after clock.h. Both have `make`, which
 * makes a system call.
 */

enum { FUTEX = 202, TIMER_SETTIME = 223, CLOCK_NANOSLEEP = 230, FUTEX_WAITV = 449, FUTEX_WAIT = 455 };
enum { COMMAND = 127, CLOCK_REALTIME_FLAG = 256, LOCK_PI = 6, WAIT_REQUEUE_PI = 11 };
enum { ABSOLUTE = 1, TIMED_OUT = -110 };
/* What the supervisor makes a call return that it interrupts because the clock has changed. */
enum { CHANGED = -1000 };
/* How long a wait goes on, in nanoseconds, before it looks at the clock again. */
#define LOOK 20000000L
/* Longer than anybody waits, in nanoseconds: a hundred years. */
#define FAR 3155760000000000000L

enum { PSELECT6 = 270, EPOLL_PWAIT = 281, EPOLL_PWAIT2 = 441 };
/* In half of a parameter that the kernel does not read, this lets a call pass the filter: `OURS` in src/filter.rs. */
#define OURS (0x74696d65UL << 32)
#define LOWER_HALF 0xffffffffUL

static void mark(u64 number, u64 *parameters) {
    /* These have six parameters, of which the first is the one with a free half. */
    int at = number == PSELECT6 || number == EPOLL_PWAIT || number == EPOLL_PWAIT2 ? 0 : 5;
    parameters[at] = (parameters[at] & LOWER_HALF) | OURS;
}
struct itimerspec { struct timespec interval, value; };

static __attribute__((noinline)) void shown_now(struct timespec *shown) { show(shown, 0); }

/* Returns the nanoseconds from one moment to another, as far as there is any use in knowing. */
static __attribute__((noinline)) i64 between(const struct timespec *from, const struct timespec *to) {
    i64 seconds;
    if (__builtin_sub_overflow(to->sec, from->sec, &seconds)) return to->sec < 0 ? -FAR : FAR;
    if (seconds > FAR / NANOS) return FAR;
    if (seconds < -(FAR / NANOS)) return -FAR;
    return seconds * NANOS + to->nsec - from->nsec;
}

/* Returns how many nanoseconds of host time a length of virtual time takes, as the clock is now. */
static __attribute__((noinline)) i64 host_length(i64 left) {
    const volatile struct slot *slot = &CLOCK.slots[__atomic_load_n(&CLOCK.changes, __ATOMIC_ACQUIRE) & 1];
    u64 rate = slot->rate, rest;
    if (left <= 0) return 0;
    if (slot->state == PAUSED || rate == 0) return FAR;
    u128 scaled = (u128)(u64)left * MILLION + rate - 1;
    if ((u64)(scaled >> 64) >= rate) return FAR;
    u64 host = divide(scaled, rate, &rest);
    return host < (u64)FAR ? (i64)host : FAR;
}

/* Returns in how many nanoseconds of host time a clock that shows `shown` shows `until`, if nothing changes it. */
static i64 host_left(const struct timespec *shown, const struct timespec *until) {
    return host_length(between(shown, until));
}

static void later(struct timespec *at, i64 nanos) {
    at->sec += nanos / NANOS;
    at->nsec += nanos % NANOS;
    if (at->nsec >= NANOS) { at->nsec -= NANOS; at->sec++; }
}

/* `is_native` says that a length is so short that only host time counts. */
struct wait { struct timespec until, start; i64 most; int is_native; };

/* Shows the clock by which the length of a wait is measured. */
static void passed_now(const struct wait *wait, struct timespec *passed) {
    if (CLOCK.sleeps && !wait->is_native) show_monotonic(passed);
    else ORIGINALS.clock_gettime(MONOTONIC, passed);
}

/* Whether a length is below the limit for host time, if there is one. */
static int is_short(i64 length) { return CLOCK.sleeps && length < (i64)(CLOCK.sleeps - 1); }

/* Begins a wait that ends when its moment has come, or as much time has passed as there is to wait for now. */
static void begin_wait(struct wait *wait, const struct timespec *until) {
    struct timespec shown;
    wait->until = *until;
    shown_now(&shown);
    wait->most = between(&shown, until);
    wait->is_native = is_short(wait->most);
    passed_now(wait, &wait->start);
}

/* Returns how many nanoseconds of host time are left of a wait as the clock is now, and when a slice of it ends by a
 * clock of the host. When nothing is left and the slice is over, so is the wait. */
static i64 next_slice(const struct wait *wait, i64 longest, int clock, struct timespec *end) {
    struct timespec shown, now;
    shown_now(&shown);
    passed_now(wait, &now);
    i64 left = host_left(&shown, &wait->until), rest = wait->most - between(&wait->start, &now);
    if (CLOCK.sleeps && !wait->is_native) rest = host_length(rest);
    if (rest < left || wait->is_native) left = rest;
    if (left < 0) left = 0;
    ORIGINALS.clock_gettime(clock, end);
    later(end, left < longest ? left : longest);
    return left;
}

/* Returns how many nanoseconds of host time are left until a clock shows a date, and how long to sleep of them. */
static i64 next_sleep(int clock, const struct timespec *until, struct timespec *length) {
    struct timespec shown, date = *until;
    if (clock == TAI) date.sec -= CLOCK.tai;
    shown_now(&shown);
    i64 left = host_left(&shown, &date);
    length->sec = 0;
    length->nsec = left < LOOK ? left : LOOK;
    return left;
}

/* Makes of a date the length of host time that is left until then. */
static void until_then(int clock, struct timespec *date) {
    struct timespec shown;
    if (clock == TAI) date->sec -= CLOCK.tai;
    shown_now(&shown);
    i64 left = host_left(&shown, date);
    date->sec = 0;
    /* Nothing would mean that a timer is not set. */
    date->nsec = 1;
    later(date, left);
}

/* Sleeps until the clock shows a date, however it gets there. For those who can leave no thread stopped so long. */
static long sleep_until(const u64 *asked) {
    struct timespec until = *(const struct timespec *)asked[2], length;
    for (;;) {
        if (next_sleep((int)asked[0], &until, &length) == 0) return 0;
        u64 parameters[6] = {MONOTONIC, 0, (u64)&length, 0, 0, 0};
        mark(CLOCK_NANOSLEEP, parameters);
        long result = make(CLOCK_NANOSLEEP, parameters);
        if (result != 0 && result != CHANGED) return result;
    }
}

/* Makes a call that waits until a date, until it has come or as much time has passed as there was to wait for. */
static __attribute__((noinline, unused)) long wait_until(u64 number, const u64 *asked) {
    u64 parameters[6];
    int timeout = 3, clock = MONOTONIC;
    i64 slice = LOOK;
    if (number == CLOCK_NANOSLEEP) return sleep_until(asked);
    for (int i = 0; i < 6; i++) parameters[i] = asked[i];
    if (number == FUTEX && (parameters[1] & COMMAND) == LOCK_PI) {
        /* It goes by realtime only, which to the kernel is the host's. */
        clock = REALTIME;
    } else if (number == FUTEX) {
        /* A waiter that was moved to another futex cannot begin again. */
        if ((parameters[1] & COMMAND) == WAIT_REQUEUE_PI) slice = FAR;
        parameters[1] &= ~(u64)CLOCK_REALTIME_FLAG;
    } else if (number == FUTEX_WAITV) {
        parameters[4] = MONOTONIC;
    } else if (number == FUTEX_WAIT) {
        timeout = 4;
        parameters[5] = MONOTONIC;
    } else {
        timeout = 4;
        clock = REALTIME;
    }
    mark(number, parameters);
    struct wait wait;
    struct timespec end;
    begin_wait(&wait, (const struct timespec *)parameters[timeout]);
    for (;;) {
        i64 left = next_slice(&wait, slice, clock, &end);
        parameters[timeout] = (u64)&end;
        long result = make(number, parameters);
        if (result != CHANGED && (result != TIMED_OUT || left == 0)) return result;
    }
}
