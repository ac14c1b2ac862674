/* Sleeps until a date, and waits until a moment of realtime.
 *
 * Each is made of short ones by the same function of the C library, with a moment of the host's clock. So whatever ends
 * a wait natively ends it here, and a thread can be cancelled in it.
 */

#include "preload.h"
#include "../image/clock.h"
#include "../image/waits.h"

/* Conditions whose waiters were signalled, by a few bits of their address, and how many wait in slices. */
enum { BUCKETS = 256 };
static unsigned signals[BUCKETS], waiting;

static unsigned *bucket(const void *condition) {
    return &signals[((u64)condition * 0x9e3779b97f4a7c15UL >> 56) % BUCKETS];
}

/* Repeats a wait by slices of it. `attempt` is what the C library does until `end`, and `over` what it then returns. */
#define IN_SLICES(until, over, attempt) ({ \
    struct wait wait; \
    struct timespec end; \
    int result; \
    i64 left; \
    begin_wait(&wait, until); \
    do { \
        left = next_slice(&wait, LOOK, REALTIME, &end); \
        result = attempt; \
    } while ((over) && left > 0); \
    result; })

#define NEXT_OR(name, otherwise) \
    __typeof__(&name) next = NEXT(name); \
    if (!next) return otherwise

#define IS_VIRTUAL(until) (on_clock() && is_right(until))

SHOWN int clock_nanosleep(int clock, int flags, const struct timespec *asked, struct timespec *left) {
    NEXT_OR(clock_nanosleep, NOT_SUPPORTED);
    int is_date = flags & ABSOLUTE && (clock == REALTIME || clock == REALTIME_ALARM || clock == TAI);
    if (!is_date || !IS_VIRTUAL(asked)) return next(clock, flags, asked, left);
    struct timespec until = *asked, length;
    while (next_sleep(clock, &until, &length)) {
        int result = next(MONOTONIC, 0, &length, 0);
        if (result) return result;
    }
    return 0;
}

SHOWN int sem_timedwait(void *semaphore, const struct timespec *until) {
    NEXT_OR(sem_timedwait, (int)by_errno(-NOT_SUPPORTED));
    if (!IS_VIRTUAL(until)) return next(semaphore, until);
    return IN_SLICES(until, result && *__errno_location() == TIMEOUT, next(semaphore, &end));
}

SHOWN int sem_clockwait(void *semaphore, int clock, const struct timespec *until) {
    NEXT_OR(sem_clockwait, (int)by_errno(-NOT_SUPPORTED));
    if (clock != REALTIME || !IS_VIRTUAL(until)) return next(semaphore, clock, until);
    return IN_SLICES(until, result && *__errno_location() == TIMEOUT, next(semaphore, clock, &end));
}

#define LOCK(name) \
    SHOWN int name(void *lock, const struct timespec *until) { \
        NEXT_OR(name, NOT_SUPPORTED); \
        if (!IS_VIRTUAL(until)) return next(lock, until); \
        return IN_SLICES(until, result == TIMEOUT, next(lock, &end)); \
    }
#define CLOCK_LOCK(name) \
    SHOWN int name(void *lock, int clock, const struct timespec *until) { \
        NEXT_OR(name, NOT_SUPPORTED); \
        if (clock != REALTIME || !IS_VIRTUAL(until)) return next(lock, clock, until); \
        return IN_SLICES(until, result == TIMEOUT, next(lock, clock, &end)); \
    }

LOCK(pthread_mutex_timedlock)
LOCK(pthread_rwlock_timedrdlock)
LOCK(pthread_rwlock_timedwrlock)
CLOCK_LOCK(pthread_mutex_clocklock)
CLOCK_LOCK(pthread_rwlock_clockrdlock)
CLOCK_LOCK(pthread_rwlock_clockwrlock)

/* What functions of C11 return where the time is over, in each C library. */
enum { THREAD_TIMED_OUT = 4, THREAD_ERROR = 2 };

SHOWN int mtx_timedlock(void *lock, const struct timespec *until) {
    NEXT_OR(mtx_timedlock, THREAD_ERROR);
    if (!IS_VIRTUAL(until)) return next(lock, until);
    return IN_SLICES(until, result == THREAD_TIMED_OUT, next(lock, &end));
}

SHOWN int pthread_timedjoin_np(u64 thread, void **value, const struct timespec *until) {
    NEXT_OR(pthread_timedjoin_np, NOT_SUPPORTED);
    if (!IS_VIRTUAL(until)) return next(thread, value, until);
    return IN_SLICES(until, result == TIMEOUT, next(thread, value, &end));
}

SHOWN int pthread_clockjoin_np(u64 thread, void **value, int clock, const struct timespec *until) {
    NEXT_OR(pthread_clockjoin_np, NOT_SUPPORTED);
    if (clock != REALTIME || !IS_VIRTUAL(until)) return next(thread, value, clock, until);
    return IN_SLICES(until, result == TIMEOUT, next(thread, value, clock, &end));
}

SHOWN long mq_timedreceive(int queue, char *text, u64 size, unsigned *priority, const struct timespec *until) {
    NEXT_OR(mq_timedreceive, by_errno(-NOT_SUPPORTED));
    if (!IS_VIRTUAL(until)) return next(queue, text, size, priority, until);
    long received;
    IN_SLICES(until, received < 0 && *__errno_location() == TIMEOUT,
              (int)(received = next(queue, text, size, priority, &end)));
    return received;
}

SHOWN int mq_timedsend(int queue, const char *text, u64 size, unsigned priority, const struct timespec *until) {
    NEXT_OR(mq_timedsend, (int)by_errno(-NOT_SUPPORTED));
    if (!IS_VIRTUAL(until)) return next(queue, text, size, priority, until);
    return IN_SLICES(until, result < 0 && *__errno_location() == TIMEOUT, next(queue, text, size, priority, &end));
}

/* Waits for a condition.
 *
 * Between two slices nobody waits, and a signal that comes then would be lost. So signals are counted, and after one
 * the wait ends as natively it may end at any time: without its reason. Signals of other processes cannot be counted,
 * so a condition that processes share is waited for once, as long as the clock says when that begins.
 */
#define FOR_CONDITION(condition, until, over, attempt) ({ \
    unsigned *signalled = bucket(condition), seen = __atomic_load_n(signalled, __ATOMIC_SEQ_CST); \
    i64 longest = is_noted((u64)(condition), SHARED_CONDITION) ? FAR : LOOK; \
    struct wait wait; \
    struct timespec end; \
    int result; \
    i64 left; \
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST); \
    begin_wait(&wait, until); \
    do { \
        left = next_slice(&wait, longest, REALTIME, &end); \
        result = attempt; \
        if (result == (over) && left > 0 && __atomic_load_n(signalled, __ATOMIC_SEQ_CST) != seen) result = 0; \
    } while (result == (over) && left > 0); \
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST); \
    result; })

static void signalled(const void *condition) {
    if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) __atomic_add_fetch(bucket(condition), 1, __ATOMIC_SEQ_CST);
}

/* Whether a condition goes by realtime, as most do. Where notes were lost, it may be any. */
static int is_of_realtime(const void *condition) {
    return !is_noted((u64)condition, MONOTONIC_CONDITION) && !has_lost_notes();
}

int pthread_condattr_getclock(const void *, int *) WEAK;
int pthread_condattr_getpshared(const void *, int *) WEAK;

SHOWN int pthread_cond_init(void *condition, const void *attributes) {
    NEXT_OR(pthread_cond_init, NOT_SUPPORTED);
    int result = next(condition, attributes), clock = REALTIME, is_shared = 0;
    if (result) return result;
    if (attributes && pthread_condattr_getclock) pthread_condattr_getclock(attributes, &clock);
    if (attributes && pthread_condattr_getpshared) pthread_condattr_getpshared(attributes, &is_shared);
    forget((u64)condition, MONOTONIC_CONDITION);
    forget((u64)condition, SHARED_CONDITION);
    if (clock != REALTIME) note((u64)condition, MONOTONIC_CONDITION);
    else if (is_shared) note((u64)condition, SHARED_CONDITION);
    return 0;
}

SHOWN int pthread_cond_destroy(void *condition) {
    NEXT_OR(pthread_cond_destroy, NOT_SUPPORTED);
    int result = next(condition);
    if (result) return result;
    forget((u64)condition, MONOTONIC_CONDITION);
    forget((u64)condition, SHARED_CONDITION);
    return 0;
}

SHOWN int pthread_cond_timedwait(void *condition, void *mutex, const struct timespec *until) {
    NEXT_OR(pthread_cond_timedwait, NOT_SUPPORTED);
    if (!IS_VIRTUAL(until) || !is_of_realtime(condition)) return next(condition, mutex, until);
    return FOR_CONDITION(condition, until, TIMEOUT, next(condition, mutex, &end));
}

SHOWN int pthread_cond_clockwait(void *condition, void *mutex, int clock, const struct timespec *until) {
    NEXT_OR(pthread_cond_clockwait, NOT_SUPPORTED);
    if (!IS_VIRTUAL(until) || clock != REALTIME) return next(condition, mutex, clock, until);
    return FOR_CONDITION(condition, until, TIMEOUT, next(condition, mutex, clock, &end));
}

SHOWN int cnd_timedwait(void *condition, void *mutex, const struct timespec *until) {
    NEXT_OR(cnd_timedwait, THREAD_ERROR);
    if (!IS_VIRTUAL(until)) return next(condition, mutex, until);
    return FOR_CONDITION(condition, until, THREAD_TIMED_OUT, next(condition, mutex, &end));
}

#define SIGNAL(name, otherwise) \
    SHOWN int name(void *condition) { \
        NEXT_OR(name, otherwise); \
        signalled(condition); \
        return next(condition); \
    }

SIGNAL(pthread_cond_signal, NOT_SUPPORTED)
SIGNAL(pthread_cond_broadcast, NOT_SUPPORTED)
SIGNAL(cnd_signal, THREAD_ERROR)
SIGNAL(cnd_broadcast, THREAD_ERROR)

/* A timer of the kernel that is set to a date goes off after as much host time as is left until then. */
SHOWN int timer_create(int clock, void *event, void **timer) {
    NEXT_OR(timer_create, (int)by_errno(-NOT_SUPPORTED));
    int result = next(clock, event, timer);
    if (!result && (clock == REALTIME || clock == REALTIME_ALARM)) note((u64)*timer, REALTIME_TIMER);
    if (!result && clock == TAI) note((u64)*timer, TAI_TIMER);
    return result;
}

SHOWN int timer_delete(void *timer) {
    NEXT_OR(timer_delete, (int)by_errno(-NOT_SUPPORTED));
    forget((u64)timer, REALTIME_TIMER);
    forget((u64)timer, TAI_TIMER);
    return next(timer);
}

SHOWN int timer_settime(void *timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    NEXT_OR(timer_settime, (int)by_errno(-NOT_SUPPORTED));
    int is_date = flags & ABSOLUTE && new && IS_VIRTUAL(&new->value) && (new->value.sec || new->value.nsec);
    int is_of_tai = is_date && is_noted((u64)timer, TAI_TIMER);
    if (!is_date || (!is_of_tai && !is_noted((u64)timer, REALTIME_TIMER))) return next(timer, flags, new, old);
    struct itimerspec length = *new;
    until_then(is_of_tai ? TAI : REALTIME, &length.value);
    return next(timer, flags & ~ABSOLUTE, &length, old);
}

/* Whether a system call waits until a moment of realtime: the rules of src/filter.rs. */
static int waits(long number, const u64 *asked) {
    const struct timespec *fourth = (const struct timespec *)asked[3], *fifth = (const struct timespec *)asked[4];
    u64 command = asked[1] & COMMAND;
    switch (number) {
    case FUTEX:
        if (command == LOCK_PI) return IS_VIRTUAL(fourth);
        if (command != 9 && command != WAIT_REQUEUE_PI && command != 13) return 0;
        return asked[1] & CLOCK_REALTIME_FLAG && IS_VIRTUAL(fourth);
    case FUTEX_WAITV: return (int)asked[4] == REALTIME && IS_VIRTUAL(fourth);
    case FUTEX_WAIT: return (int)asked[5] == REALTIME && IS_VIRTUAL(fifth);
    case MQ_TIMEDSEND:
    case MQ_TIMEDRECEIVE: return IS_VIRTUAL(fifth);
    case CLOCK_NANOSLEEP:
        if (!(asked[1] & ABSOLUTE) || !IS_VIRTUAL((const struct timespec *)asked[2])) return 0;
        return (int)asked[0] == REALTIME || (int)asked[0] == REALTIME_ALARM || (int)asked[0] == TAI;
    default: return 0;
    }
}

/* Answers the calls of this file for `syscall`; returns whether it is one. */
int answers_wait(long number, const u64 *asked, long *result) {
    if (!waits(number, asked)) return 0;
    *result = wait_until((u64)number, asked);
    return 1;
}
