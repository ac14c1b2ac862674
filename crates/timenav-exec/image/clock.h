/* What a clock page shows, and how long it is until it shows a moment.
 *
 * For the image that takes the place of the vDSO, and for the library that is loaded into programs: both say where the
 * page is (CLOCK) and what the kernel's own functions are (ORIGINALS). The layout of the page is in
 * docs/specs/clock-page.md and in src/page.rs.
 */

/* Divides 128 bits by a number whose quotient has 64: the upper half must be less than the divisor. */
static inline u64 divide(u128 value, u64 by, u64 *rest) {
    u64 quotient, low = (u64)value, high = (u64)(value >> 64);
    __asm__("divq %4" : "=a"(quotient), "=d"(*rest) : "a"(low), "d"(high), "rm"(by) : "cc");
    return quotient;
}

/* Shows the time of day, and the monotonic clock of the page unless that is null. */
static inline __attribute__((always_inline)) void show_both(struct timespec *shown, i64 tai, struct timespec *passed) {
    u64 before;
    struct slot slot;
    struct monotonic monotonic = {0, 0, 0, 0};
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
        if (passed) {
            const volatile struct monotonic *from = &CLOCK.monotonic[before & 1];
            monotonic.off_sec = from->off_sec;
            monotonic.off_nsec = from->off_nsec;
            monotonic.least_sec = from->least_sec;
            monotonic.least_nsec = from->least_nsec;
        }
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
    if (passed) {
        passed->sec = shown->sec + monotonic.off_sec;
        passed->nsec = nsec + monotonic.off_nsec;
        if (passed->nsec >= NANOS) { passed->nsec -= NANOS; passed->sec++; }
        if (passed->sec < monotonic.least_sec
            || (passed->sec == monotonic.least_sec && passed->nsec < monotonic.least_nsec)) {
            passed->sec = monotonic.least_sec;
            passed->nsec = monotonic.least_nsec;
        }
    }
    shown->sec += tai;
}

static inline void show(struct timespec *shown, i64 tai) { show_both(shown, tai, 0); }

static __attribute__((noinline, unused)) void show_monotonic(struct timespec *passed) {
    struct timespec shown;
    show_both(&shown, 0, passed);
}

/* Tells a clock if it is a virtual one, and returns whether it is. */
static inline int tell(int id, struct timespec *shown) {
    switch (id) {
    case REALTIME:
    case REALTIME_COARSE:
    case REALTIME_ALARM:
        show(shown, 0);
        return 1;
    case TAI:
        show(shown, CLOCK.tai);
        return 1;
    case MONOTONIC:
    case MONOTONIC_COARSE:
    case BOOTTIME:
    case BOOTTIME_ALARM:
        if (!CLOCK.sleeps) return 0;
        show_monotonic(shown);
        return 1;
    default:
        return 0;
    }
}
