/* The clock page, as src/page.rs has it, and the numbers of the kernel that go with it. */

typedef long i64;
typedef unsigned long u64;
typedef unsigned __int128 u128;

struct timespec { i64 sec, nsec; };
struct timeval { i64 sec, usec; };

struct slot { i64 v_sec, v_nsec, b_sec, b_nsec; u64 rate, state, generation, uncertainty; };
/* The monotonic clock of a slot: what the slot shows, and this; at least the last two. */
struct monotonic { i64 off_sec, off_nsec, least_sec, least_nsec; };
struct page {
    u64 magic, version, changes, heard, unconfirmed;
    i64 tai, end_sec;
    /* Whether lengths of time are virtual, and if so, one more than the nanoseconds below which waits are not. */
    u64 sleeps;
    struct slot slots[2];
    struct monotonic monotonic[2];
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

enum {
    REALTIME = 0, MONOTONIC = 1, REALTIME_COARSE = 5, MONOTONIC_COARSE = 6, BOOTTIME = 7, REALTIME_ALARM = 8,
    BOOTTIME_ALARM = 9, TAI = 11
};
enum { PAUSED = 1 };
#define NANOS 1000000000L
#define MILLION 1000000UL
/* Core's last instant has microseconds. */
#define END_NSEC 999999000L
