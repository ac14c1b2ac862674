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
