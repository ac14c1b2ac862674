/* A vDSO whose realtime is computed from a clock page. Everything else goes to the kernel's own functions.
 *
 * Three mappings lie beside each other, at an address that the kernel chose: the originals (private to the process),
 * the clock page (shared, written by the supervisor), and this code. Nothing here is relocated and nothing is written,
 * so the code is the same in every process. The layout of the page is in docs/clock-page.md and in src/page.rs.
 */

typedef long i64;
typedef unsigned long u64;
typedef unsigned __int128 u128;

struct timespec { i64 sec, nsec; };
struct timeval { i64 sec, usec; };

struct slot { i64 v_sec, v_nsec, b_sec, b_nsec; u64 rate, state, generation, uncertainty; };
struct page {
    u64 magic, version, changes, heard, unconfirmed;
    i64 tai, end_sec;
    u64 reserved;
    struct slot slots[2];
};

struct originals {
    long (*clock_gettime)(int, struct timespec *);
    long (*gettimeofday)(struct timeval *, void *);
    long (*clock_getres)(int, struct timespec *);
    long (*getcpu)(unsigned *, unsigned *, void *);
    long (*getrandom)(void *, u64, unsigned, void *, u64);
    /* By how much this process's boot clock is ahead of the supervisor's: its time namespace. */
    i64 shift_sec, shift_nsec;
};

extern const volatile struct page CLOCK __attribute__((visibility("hidden")));
extern const volatile struct originals ORIGINALS __attribute__((visibility("hidden")));

enum { REALTIME = 0, REALTIME_COARSE = 5, BOOTTIME = 7, REALTIME_ALARM = 8, TAI = 11 };
enum { PAUSED = 1 };
#define NANOS 1000000000L
#define MILLION 1000000UL
/* Core's last instant has microseconds. */
#define END_NSEC 999999000L

/* Divides 128 bits by a number whose quotient has 64: the upper half must be less than the divisor. */
static inline u64 divide(u128 value, u64 by, u64 *rest) {
    u64 quotient, low = (u64)value, high = (u64)(value >> 64);
    __asm__("divq %4" : "=a"(quotient), "=d"(*rest) : "a"(low), "d"(high), "rm"(by) : "cc");
    return quotient;
}

static inline void show(struct timespec *shown, i64 tai) {
    u64 before;
    struct slot slot;
    struct timespec boot = {0, 0};
    /* The writer fills the other slot and then counts on. A writer that was killed leaves no reader waiting. */
    do {
        before = __atomic_load_n(&CLOCK.changes, __ATOMIC_ACQUIRE);
        const volatile struct slot *at = &CLOCK.slots[before & 1];
        slot.v_sec = at->v_sec;
        slot.v_nsec = at->v_nsec;
        slot.b_sec = at->b_sec;
        slot.b_nsec = at->b_nsec;
        slot.rate = at->rate;
        slot.state = at->state;
        if (slot.state != PAUSED) ORIGINALS.clock_gettime(BOOTTIME, &boot);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&CLOCK.changes, __ATOMIC_RELAXED) != before);
    u64 sec = 0;
    i64 nsec = 0;
    if (slot.state != PAUSED) {
        i64 host = boot.sec - ORIGINALS.shift_sec - slot.b_sec;
        nsec = boot.nsec - ORIGINALS.shift_nsec - slot.b_nsec;
        while (nsec < 0) { nsec += NANOS; host--; }
        while (nsec >= NANOS) { nsec -= NANOS; host++; }
        /* A change that this processor's clock has not quite reached. */
        if (host < 0) host = nsec = 0;
        sec = (u64)host;
        if (slot.rate != MILLION) {
            u128 seconds = (u128)sec * slot.rate;
            u64 rest, ignored;
            if ((u64)(seconds >> 64) >= MILLION) {
                sec = ~0UL;
                nsec = 0;
            } else {
                sec = divide(seconds, MILLION, &rest);
                u64 nanos = rest * 1000 + divide((u128)(u64)nsec * slot.rate, MILLION, &ignored);
                sec += nanos / NANOS;
                nsec = (i64)(nanos % NANOS);
            }
        }
    }
    i64 end = CLOCK.end_sec;
    nsec += slot.v_nsec;
    if (nsec >= NANOS) { nsec -= NANOS; sec++; }
    if (sec > (u64)(end - slot.v_sec)) {
        shown->sec = end;
        nsec = END_NSEC;
    } else {
        shown->sec = slot.v_sec + (i64)sec;
        if (shown->sec == end && nsec > END_NSEC) nsec = END_NSEC;
    }
    shown->nsec = nsec;
    shown->sec += tai;
}

int __vdso_clock_gettime(int id, struct timespec *shown) {
    switch (id) {
    case REALTIME:
    case REALTIME_COARSE:
    case REALTIME_ALARM:
        show(shown, 0);
        return 0;
    case TAI:
        show(shown, CLOCK.tai);
        return 0;
    default:
        return (int)ORIGINALS.clock_gettime(id, shown);
    }
}

int __vdso_gettimeofday(struct timeval *shown, void *zone) {
    if (zone) ORIGINALS.gettimeofday(0, zone);
    if (shown) {
        struct timespec now;
        show(&now, 0);
        shown->sec = now.sec;
        shown->usec = (unsigned)now.nsec / 1000;
    }
    return 0;
}

long __vdso_time(long *shown) {
    struct timespec now;
    show(&now, 0);
    if (shown) *shown = now.sec;
    return now.sec;
}

int __vdso_clock_getres(int id, struct timespec *resolution) {
    return (int)ORIGINALS.clock_getres(id, resolution);
}

long __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused) {
    return ORIGINALS.getcpu(cpu, node, unused);
}

long __vdso_getrandom(void *buffer, u64 length, unsigned flags, void *state, u64 state_length) {
    return ORIGINALS.getrandom(buffer, length, flags, state, state_length);
}

#define WEAK(name) __attribute__((weak, alias("__vdso_" #name)))
int WEAK(clock_gettime) clock_gettime(int, struct timespec *);
int WEAK(gettimeofday) gettimeofday(struct timeval *, void *);
long WEAK(time) time(long *);
int WEAK(clock_getres) clock_getres(int, struct timespec *);
long WEAK(getcpu) getcpu(unsigned *, unsigned *, void *);
long WEAK(getrandom) getrandom(void *, u64, unsigned, void *, u64);

/* Waits until a moment of realtime, for calls that the kernel would compare with the host's clock.
 *
 * The supervisor has interrupted a thread that was about to make such a call (src/waits.rs), and sent it to
 * `timenav_wait`, with the registers of the call, the place to return to in rcx, and the number of the call in rax.
 * To the program it is the call: all registers but those that a call changes are as they were, and so is the stack. The
 * unwinder sees the caller of the call, since a thread may be cancelled here.
 */

enum { MONOTONIC = 1 };
enum { FUTEX = 202, TIMER_SETTIME = 223, CLOCK_NANOSLEEP = 230, FUTEX_WAITV = 449, FUTEX_WAIT = 455 };
enum { COMMAND = 127, CLOCK_REALTIME_FLAG = 256, LOCK_PI = 6, WAIT_REQUEUE_PI = 11 };
enum { ABSOLUTE = 1, TIMED_OUT = -110 };
/* Marks, in a parameter that the kernel does not look at, calls of this routine that the filter lets pass. */
#define OURS 0x74696d656e617632UL
/* How long a wait goes on, in nanoseconds, before it looks at the clock again. */
#define LOOK 20000000L
/* Longer than anybody waits, in nanoseconds: a hundred years. */
#define FAR 3155760000000000000L

struct call { u64 parameters[6], number; };
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

/* Returns in how many nanoseconds of host time a clock that shows `shown` shows `until`, if nothing changes it. */
static __attribute__((noinline)) i64 host_left(const struct timespec *shown, const struct timespec *until) {
    i64 left = between(shown, until);
    const volatile struct slot *slot = &CLOCK.slots[__atomic_load_n(&CLOCK.changes, __ATOMIC_ACQUIRE) & 1];
    u64 rate = slot->rate, rest;
    if (left <= 0) return 0;
    if (slot->state == PAUSED || rate == 0) return FAR;
    u128 scaled = (u128)(u64)left * MILLION + rate - 1;
    if ((u64)(scaled >> 64) >= rate) return FAR;
    u64 host = divide(scaled, rate, &rest);
    return host < (u64)FAR ? (i64)host : FAR;
}

static __attribute__((noinline)) long make(u64 number, const u64 *parameters) {
    register u64 fourth __asm__("r10") = parameters[3];
    register u64 fifth __asm__("r8") = parameters[4];
    register u64 sixth __asm__("r9") = parameters[5];
    long result;
    __asm__ volatile("syscall" : "=a"(result)
        : "a"(number), "D"(parameters[0]), "S"(parameters[1]), "d"(parameters[2]), "r"(fourth), "r"(fifth), "r"(sixth)
        : "rcx", "r11", "memory");
    return result;
}

static void later(struct timespec *at, i64 nanos) {
    at->sec += nanos / NANOS;
    at->nsec += nanos % NANOS;
    if (at->nsec >= NANOS) { at->nsec -= NANOS; at->sec++; }
}

/* Sets a timer to the length of host time that is left until its date. */
static long set_timer(const u64 *asked) {
    u64 parameters[6];
    struct itimerspec timer = *(const struct itimerspec *)asked[2];
    struct timespec shown;
    for (int i = 0; i < 6; i++) parameters[i] = asked[i];
    shown_now(&shown);
    i64 left = host_left(&shown, &timer.value);
    timer.value.sec = 0;
    /* Nothing would mean that it is not set. */
    timer.value.nsec = 1;
    later(&timer.value, left);
    parameters[1] &= ~(u64)ABSOLUTE;
    parameters[2] = (u64)&timer;
    return make(TIMER_SETTIME, parameters);
}

/* Sleeps until the clock shows a date, however it gets there. For tracers, who can leave no thread stopped so long. */
static long sleep_until(const u64 *asked) {
    struct timespec until = *(const struct timespec *)asked[2], shown, length;
    if ((int)asked[0] == TAI) until.sec -= CLOCK.tai;
    for (;;) {
        shown_now(&shown);
        i64 left = host_left(&shown, &until);
        if (left == 0) return 0;
        length.sec = 0;
        length.nsec = left < LOOK ? left : LOOK;
        u64 parameters[6] = {MONOTONIC, 0, (u64)&length, 0, 0, 0};
        long result = make(CLOCK_NANOSLEEP, parameters);
        if (result != 0) return result;
    }
}

/* Makes a call that waits, until its moment has come or as much host time has passed as there was to wait for. */
__attribute__((used, visibility("hidden"))) long wait_in_slices(const struct call *asked) {
    u64 parameters[6];
    int timeout = 3, clock = MONOTONIC;
    i64 slice = LOOK;
    if (asked->number == TIMER_SETTIME) return set_timer(asked->parameters);
    if (asked->number == CLOCK_NANOSLEEP) return sleep_until(asked->parameters);
    for (int i = 0; i < 6; i++) parameters[i] = asked->parameters[i];
    if (asked->number == FUTEX && (parameters[1] & COMMAND) == LOCK_PI) {
        /* It goes by realtime only, which to the kernel is the host's. */
        clock = REALTIME;
        parameters[5] = OURS;
    } else if (asked->number == FUTEX) {
        /* A waiter that was moved to another futex cannot begin again. */
        if ((parameters[1] & COMMAND) == WAIT_REQUEUE_PI) slice = FAR;
        parameters[1] &= ~(u64)CLOCK_REALTIME_FLAG;
    } else if (asked->number == FUTEX_WAITV) {
        parameters[4] = MONOTONIC;
    } else if (asked->number == FUTEX_WAIT) {
        timeout = 4;
        parameters[5] = MONOTONIC;
    } else {
        timeout = 4;
        clock = REALTIME;
        parameters[5] = OURS;
    }
    const struct timespec until = *(const struct timespec *)parameters[timeout];
    struct timespec shown, start, now, end;
    shown_now(&shown);
    ORIGINALS.clock_gettime(MONOTONIC, &start);
    now = start;
    i64 most = between(&shown, &until);
    for (;;) {
        i64 left = host_left(&shown, &until);
        i64 rest = most - between(&start, &now);
        if (rest < left) left = rest;
        if (left < 0) left = 0;
        i64 length = left < slice ? left : slice;
        ORIGINALS.clock_gettime(clock, &end);
        later(&end, length);
        parameters[timeout] = (u64)&end;
        long result = make(asked->number, parameters);
        if (result != TIMED_OUT || left == 0) return result;
        shown_now(&shown);
        ORIGINALS.clock_gettime(MONOTONIC, &now);
    }
}

__asm__(
    ".text\n"
    ".globl timenav_wait\n"
    ".type timenav_wait, @function\n"
    "timenav_wait:\n"
    ".cfi_startproc\n"
    ".cfi_signal_frame\n"
    ".cfi_def_cfa %rsp, 0\n"
    ".cfi_register %rip, %rcx\n"
    "endbr64\n"
    /* What is below the stack pointer may be in use. */
    "lea -128(%rsp), %rsp\n"
    ".cfi_adjust_cfa_offset 128\n"
    "push %rcx\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_rel_offset %rip, 0\n"
    "pushfq\n"
    ".cfi_adjust_cfa_offset 8\n"
    "push %rbp\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_rel_offset %rbp, 0\n"
    "push %rax\n"
    "push %r9\n"
    "push %r8\n"
    "push %r10\n"
    "push %rdx\n"
    "push %rsi\n"
    "push %rdi\n"
    ".cfi_adjust_cfa_offset 56\n"
    "mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "mov %rsp, %rdi\n"
    "and $-16, %rsp\n"
    "cld\n"
    "call wait_in_slices\n"
    "mov %rbp, %rsp\n"
    ".cfi_def_cfa_register %rsp\n"
    "pop %rdi\n"
    "pop %rsi\n"
    "pop %rdx\n"
    "pop %r10\n"
    "pop %r8\n"
    "pop %r9\n"
    "lea 8(%rsp), %rsp\n"
    ".cfi_adjust_cfa_offset -56\n"
    "pop %rbp\n"
    ".cfi_adjust_cfa_offset -8\n"
    ".cfi_restore %rbp\n"
    "popfq\n"
    ".cfi_adjust_cfa_offset -8\n"
    "pop %rcx\n"
    ".cfi_adjust_cfa_offset -8\n"
    ".cfi_register %rip, %rcx\n"
    "lea 128(%rsp), %rsp\n"
    ".cfi_adjust_cfa_offset -128\n"
    "jmp *%rcx\n"
    ".cfi_endproc\n"
    ".size timenav_wait, . - timenav_wait\n");
