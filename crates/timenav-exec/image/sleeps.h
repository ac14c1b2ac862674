/* Waits whose length is virtual: timeouts, and deadlines on monotonic clocks. For the image, after waits.h.
 *
 * A thread waits in the kernel for as much host time as is left. When the clock changes, the supervisor interrupts the
 * system call and makes it return CHANGED (src/supervisor/waiters.rs); the thread then waits for what is left by the
 * new clock. It also asks again each second, in case the supervisor could not reach it.
 */

enum {
    POLL = 7, SELECT = 23, NANOSLEEP = 35, SIGTIMEDWAIT = 128, SEMTIMEDOP = 220, EPOLL_WAIT = 232, PPOLL = 271,
    RECVMMSG = 299
};
enum { FUTEX_WAIT_FOR = 0, FUTEX_WAIT_BITSET = 9 };
enum { INTERRUPTED = -4, NOTHING_YET = -11 };
enum { MQ_TIMEDSEND = 242, MQ_TIMEDRECEIVE = 243 };
/* Said by the supervisor with the number of a call, as in src/supervisor/waits.rs. Of waits: the kernel may be asked
 * for less than a millisecond by another call; what is left may be written to where the timeout is. Of timers: the
 * value is a date of atomic time, a length, or a moment of the monotonic clock. */
#define OF_TAI (1UL << 32)
#define PRECISE (1UL << 33)
#define WRITABLE (1UL << 34)
#define OF_LENGTH (1UL << 35)
#define OF_MONOTONIC (1UL << 36)
/* The lowest bits of the number of clock changes, as of which the supervisor knows a timer. */
#define CHANGES_SHIFT 48
/* How long a wait goes on, in nanoseconds, before it looks at the clock again. */
#define SECOND NANOS
/* The shortest wait, in nanoseconds, for lengths below a second. At high rates, programs that wait again and again for
 * a moment would be busy with nothing else. */
#define MILLISECOND 1000000L
#define MICROSECOND 1000L
#define INT_MAX 0x7fffffffL

/* What the supervisor says of a call is in the upper half of its number. */
struct call { u64 parameters[6], number; };

struct sleep {
    /* On the monotonic clock of the page, or of the host. */
    struct timespec until;
    i64 length;
    int is_by_host;
};

static void begin_sleep(struct sleep *sleep, i64 length, const struct timespec *now) {
    sleep->until = *now;
    sleep->length = length;
    sleep->is_by_host = is_short(length);
    if (sleep->is_by_host) ORIGINALS.clock_gettime(MONOTONIC, &sleep->until);
    if (length > 0) later(&sleep->until, length);
}

/* Returns how many nanoseconds are left, by the clock of the wait. */
static i64 left_of(const struct sleep *sleep) {
    struct timespec now;
    if (sleep->is_by_host) ORIGINALS.clock_gettime(MONOTONIC, &now);
    else show_monotonic(&now);
    i64 left = between(&now, &sleep->until);
    return left > 0 ? left : 0;
}

/* Returns how many nanoseconds of host time are left. */
static __attribute__((noinline)) i64 host_left_of(const struct sleep *sleep) {
    i64 left = left_of(sleep);
    if (sleep->is_by_host) return left;
    i64 host = host_length(left), least = left < MILLISECOND ? left : MILLISECOND;
    return host < least && sleep->length < SECOND ? least : host;
}

enum unit { TIMESPEC, TIMEVAL, MILLIS, MOMENT };
/* Where a call has its timeout, and in which unit; what it returns when the time is over; and how much of it may pass
 * at a time. Calls whose other parameters are changed by a timeout wait for all of it. */
struct form { enum unit unit; int timeout; long over; i64 longest; };

static inline struct form form_of(u64 number) {
    switch (number) {
    case NANOSLEEP: return (struct form){TIMESPEC, 0, 0, SECOND};
    case CLOCK_NANOSLEEP: return (struct form){TIMESPEC, 2, 0, SECOND};
    case POLL: return (struct form){MILLIS, 2, 0, SECOND};
    case PPOLL: return (struct form){TIMESPEC, 2, 0, SECOND};
    case SELECT: return (struct form){TIMEVAL, 4, 0, FAR};
    case PSELECT6: return (struct form){TIMESPEC, 4, 0, FAR};
    case EPOLL_WAIT:
    case EPOLL_PWAIT: return (struct form){MILLIS, 3, 0, SECOND};
    case EPOLL_PWAIT2: return (struct form){TIMESPEC, 3, 0, SECOND};
    case SIGTIMEDWAIT: return (struct form){TIMESPEC, 2, NOTHING_YET, SECOND};
    case SEMTIMEDOP: return (struct form){TIMESPEC, 3, NOTHING_YET, SECOND};
    case RECVMMSG: return (struct form){TIMESPEC, 4, 0, FAR};
    case FUTEX_WAIT: return (struct form){MOMENT, 4, TIMED_OUT, SECOND};
    default: return (struct form){MOMENT, 3, TIMED_OUT, SECOND};
    }
}

static i64 length_in(enum unit unit, u64 parameter) {
    const struct timespec *at = (const struct timespec *)parameter;
    if (unit == MILLIS) return (int)parameter * MILLISECOND;
    if (at->sec >= FAR / NANOS) return FAR;
    return at->sec * NANOS + (unit == TIMEVAL ? at->nsec * MICROSECOND : at->nsec);
}

/* Writes a length of host time as a call takes it, and returns the parameter. */
static u64 timeout_of(enum unit unit, i64 nanos, struct timespec *into) {
    i64 millis = (nanos + MILLISECOND - 1) / MILLISECOND;
    if (unit == MILLIS) return (u64)(millis < INT_MAX ? millis : INT_MAX);
    into->sec = into->nsec = 0;
    if (unit == MOMENT) ORIGINALS.clock_gettime(MONOTONIC, into);
    later(into, nanos);
    if (unit == TIMEVAL) {
        into->nsec = (into->nsec + MICROSECOND - 1) / MICROSECOND;
        if (into->nsec == NANOS / MICROSECOND) { into->nsec = 0; into->sec++; }
    }
    return (u64)into;
}

/* Makes of a call another one of the same effect with a finer timeout, and of those by a clock ones by the host's. */
static u64 as_made(u64 asked, u64 *parameters, struct form *form) {
    u64 number = (unsigned)asked;
    if (number == CLOCK_NANOSLEEP) {
        /* Only what is left of a length is told. */
        if (parameters[1] & ABSOLUTE) parameters[3] = 0;
        parameters[0] = MONOTONIC;
        parameters[1] = 0;
    } else if (number == FUTEX) {
        if ((parameters[1] & COMMAND) == FUTEX_WAIT_FOR) {
            parameters[1] = (parameters[1] & ~(u64)COMMAND) | FUTEX_WAIT_BITSET;
            parameters[5] = ~0U;
        }
        if ((parameters[1] & COMMAND) == WAIT_REQUEUE_PI) form->longest = FAR;
        parameters[1] &= ~(u64)CLOCK_REALTIME_FLAG;
    } else if (number == FUTEX_WAITV) {
        parameters[4] = MONOTONIC;
    } else if (number == FUTEX_WAIT) {
        parameters[5] = MONOTONIC;
    } else if (asked & PRECISE && number == POLL) {
        parameters[3] = parameters[4] = 0;
        form->unit = TIMESPEC;
        number = PPOLL;
    } else if (asked & PRECISE && (number == EPOLL_WAIT || number == EPOLL_PWAIT)) {
        if (number == EPOLL_WAIT) parameters[4] = parameters[5] = 0;
        form->unit = TIMESPEC;
        number = EPOLL_PWAIT2;
    }
    mark(number, parameters);
    return number;
}

/* Writes what is left of a wait to where the kernel would, as it does for some calls. */
static void tell_left(const struct call *asked, const struct form *form, const struct sleep *sleep, long result) {
    u64 number = (unsigned)asked->number, at = asked->parameters[form->timeout];
    if (number == NANOSLEEP || number == CLOCK_NANOSLEEP) {
        int is_told = result == INTERRUPTED && !(number == CLOCK_NANOSLEEP && asked->parameters[1] & ABSOLUTE);
        at = is_told ? asked->parameters[number == NANOSLEEP ? 1 : 3] : 0;
    } else if (!(asked->number & WRITABLE)) {
        at = 0;
    }
    if (!at) return;
    struct timespec *into = (struct timespec *)at;
    i64 left = left_of(sleep);
    into->sec = left / NANOS;
    into->nsec = form->unit == TIMEVAL ? left % NANOS / MICROSECOND : left % NANOS;
}

/* Whether the timeout of a call is a moment, and not a length. */
static int is_deadline(u64 number, const u64 *parameters) {
    if (number == FUTEX) return (parameters[1] & COMMAND) != FUTEX_WAIT_FOR;
    if (number == CLOCK_NANOSLEEP) return (parameters[1] & ABSOLUTE) != 0;
    return number == FUTEX_WAITV || number == FUTEX_WAIT;
}

static __attribute__((noinline)) long sleep_in_slices(const struct call *asked) {
    u64 parameters[6];
    struct form form = form_of((unsigned)asked->number);
    struct sleep sleep;
    struct timespec until;
    for (int i = 0; i < 6; i++) parameters[i] = asked->parameters[i];
    show_monotonic(&until);
    i64 length = is_deadline((unsigned)asked->number, parameters)
        ? between(&until, (const struct timespec *)parameters[form.timeout])
        : length_in(form.unit, parameters[form.timeout]);
    begin_sleep(&sleep, length, &until);
    u64 number = as_made(asked->number, parameters, &form);
    long result;
    i64 left = host_left_of(&sleep);
    for (;;) {
        parameters[form.timeout] = timeout_of(form.unit, left < form.longest ? left : form.longest, &until);
        result = make(number, parameters);
        if (result == CHANGED) {
            left = host_left_of(&sleep);
            continue;
        }
        if (result != form.over || form.longest == FAR) break;
        left = host_left_of(&sleep);
        if (left == 0) break;
    }
    tell_left(asked, &form, &sleep, result);
    return result;
}

/* Whether the clock has changed since the supervisor recorded a timer. */
static int has_changed_since(const struct call *asked) {
    u64 changes = __atomic_load_n(&CLOCK.changes, __ATOMIC_ACQUIRE);
    return ((changes ^ (asked->number >> CHANGES_SHIFT)) & 0xffff) != 0;
}

/* Sets a timer to the length of host time that is left until its date, or of a length. */
static __attribute__((noinline)) long set_timer(const struct call *asked) {
    u64 parameters[6];
    struct itimerspec timer = *(const struct itimerspec *)asked->parameters[2];
    struct timespec now;
    for (int i = 0; i < 6; i++) parameters[i] = asked->parameters[i];
    if (asked->number & (OF_LENGTH | OF_MONOTONIC)) {
        i64 left = length_in(TIMESPEC, (u64)&timer.value);
        show_monotonic(&now);
        if (asked->number & OF_MONOTONIC) left = between(&now, &timer.value);
        left = is_short(left) ? left : host_length(left);
        timer.value = (struct timespec){0, 0};
        /* Nothing would mean that a timer is not set. */
        later(&timer.value, left ? left : 1);
    } else {
        until_then(asked->number & OF_TAI ? TAI : REALTIME, &timer.value);
    }
    if (CLOCK.sleeps) {
        i64 every = host_length(length_in(TIMESPEC, (u64)&timer.interval));
        timer.interval = (struct timespec){0, 0};
        later(&timer.interval, every);
    }
    parameters[1] &= ~(u64)ABSOLUTE;
    parameters[2] = (u64)&timer;
    mark(TIMER_SETTIME, parameters);
    long result = make(TIMER_SETTIME, parameters);
    if (result != 0 || !has_changed_since(asked)) return result;
    /* The supervisor may have set the timer for that change before this thread did, or may know it as expired. It is
     * reported once more. Its former value is known already. */
    for (int i = 0; i < 6; i++) parameters[i] = asked->parameters[i];
    parameters[3] = 0;
    do result = make(TIMER_SETTIME, parameters);
    while (result == CHANGED);
    return result;
}

/* Whether a call waits until a moment of realtime. */
static int is_by_date(u64 number, const u64 *parameters) {
    int clock = (int)parameters[0];
    switch (number) {
    case FUTEX:
        if ((parameters[1] & COMMAND) == LOCK_PI) return 1;
        return (parameters[1] & COMMAND) != FUTEX_WAIT_FOR && parameters[1] & CLOCK_REALTIME_FLAG;
    case FUTEX_WAITV: return (int)parameters[4] == REALTIME;
    case FUTEX_WAIT: return (int)parameters[5] == REALTIME;
    case MQ_TIMEDSEND:
    case MQ_TIMEDRECEIVE: return 1;
    case CLOCK_NANOSLEEP:
        return parameters[1] & ABSOLUTE && (clock == REALTIME || clock == REALTIME_ALARM || clock == TAI);
    default: return 0;
    }
}

/* Makes a call that waits or sets a timer. */
static __attribute__((used)) long wait_as_asked(const struct call *asked) {
    u64 number = (unsigned)asked->number;
    if (number == TIMER_SETTIME) return set_timer(asked);
    if (is_by_date(number, asked->parameters)) return wait_until(number, asked->parameters);
    return sleep_in_slices(asked);
}
