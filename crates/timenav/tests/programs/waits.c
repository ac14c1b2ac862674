/* Waits until moments of realtime in every way that a C program has, and prints what is not as it should be. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NANOS 1000000000L
enum { WAITV = 449, WAIT = 455 };

struct waitv { uint64_t val, uaddr; uint32_t flags, reserved; };

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER, inherited;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static mqd_t queue = -1, full = -1;

static int mutex_taken(const struct timespec *until) { return pthread_mutex_timedlock(&taken, until); }
static int inherited_taken(const struct timespec *until) { return pthread_mutex_timedlock(&inherited, until); }

static int condition(const struct timespec *until) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int error;
    while (!(error = pthread_cond_timedwait(&condition, &mutex, until)));
    pthread_mutex_unlock(&mutex);
    return error;
}

static int semaphore(const struct timespec *until) {
    sem_t none;
    sem_init(&none, 0, 0);
    return sem_timedwait(&none, until) ? errno : 0;
}

static int read_lock(const struct timespec *until) {
    return pthread_rwlock_timedrdlock(&written, until);
}

static int vector(const struct timespec *until) {
    uint32_t word = 7;
    struct waitv one = {7, (uint64_t)&word, 2 | 128, 0};
    return syscall(WAITV, &one, 1, 0, until, CLOCK_REALTIME) < 0 ? errno : 0;
}

static int newer(const struct timespec *until) {
    uint32_t word = 7;
    return syscall(WAIT, &word, 7L, 0xffffffffL, 2 | 128, until, CLOCK_REALTIME) < 0 ? errno : 0;
}

static int message(const struct timespec *until) {
    char text[64];
    return mq_timedreceive(queue, text, sizeof text, 0, until) < 0 ? errno : 0;
}

static int sent(const struct timespec *until) {
    return mq_timedsend(full, "", 1, 0, until) < 0 ? errno : 0;
}

static struct way { const char *name; int (*wait)(const struct timespec *); } ways[] = {
    {"a condition", condition}, {"a semaphore", semaphore}, {"a mutex", mutex_taken},
    {"a mutex that inherits priorities", inherited_taken}, {"a lock for readers", read_lock},
    {"futex_waitv", vector}, {"futex_wait", newer}, {"a message", message}, {"room for a message", sent},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Whether this system has it: a call that waits for nothing else fails at once. */
static int is_there(const struct way *way) {
    struct timespec wrong = {0, NANOS};
    int error = way->wait(&wrong);
    return error != ENOSYS && error != EBADF;
}

static long now(int clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * NANOS + at.tv_nsec;
}

static void *hold(void *nothing) {
    pthread_mutex_lock(&taken);
    pthread_mutex_lock(&inherited);
    pthread_rwlock_wrlock(&written);
    sem_post(nothing);
    for (;;) pause();
    return nothing;
}

static struct timespec until;
static long least, began;

static void *wait_so(void *way_of) {
    struct way *way = way_of;
    int error = way->wait(&until);
    long shown = now(CLOCK_REALTIME), passed = now(CLOCK_MONOTONIC) - began;
    long left = until.tv_sec * NANOS + until.tv_nsec - shown;
    if (error != ETIMEDOUT) printf("%s: error %d\n", way->name, error);
    /* A clock that runs is set a little at times, and may show the moment earlier. */
    if (passed < least && left > 0) printf("%s: ended after %ld ns of %ld\n", way->name, passed, least);
    if (!least && left > 0) printf("%s: ended at %ld\n", way->name, shown / NANOS);
    return 0;
}

/* Waits in all ways at once. */
static void wait_in_all_ways(void) {
    pthread_t threads[WAYS];
    int is_started[WAYS];
    for (int i = 0; i < WAYS; i++) {
        is_started[i] = is_there(&ways[i]);
        if (is_started[i]) pthread_create(&threads[i], 0, wait_so, &ways[i]);
    }
    puts("waiting");
    fflush(stdout);
    for (int i = 0; i < WAYS; i++) if (is_started[i]) pthread_join(threads[i], 0);
    puts("done");
    fflush(stdout);
}

/* The call is to leave registers and the stack as they were, as the kernel does. */
static void registers(void) {
    uint32_t word = 7;
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    uint64_t before[] = {(uint64_t)&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, 7,
                         (uint64_t)&soon, 8, 9};
    uint64_t after[8], result = SYS_futex;
    __asm__ volatile(
        "mov 0(%2), %%rdi\n mov 8(%2), %%rsi\n mov 16(%2), %%rdx\n mov 24(%2), %%r10\n mov 32(%2), %%r8\n"
        "mov 40(%2), %%r9\n movq $42, -8(%%rsp)\n movq $43, -128(%%rsp)\n mov $44, %%r12\n mov $45, %%r13\n"
        "movq %%r12, %%xmm5\n mov $46, %%r14\n"
        "syscall\n"
        "mov %%rdi, 0(%1)\n mov %%rsi, 8(%1)\n mov %%rdx, 16(%1)\n mov %%r10, 24(%1)\n mov %%r8, 32(%1)\n"
        "mov %%r9, 40(%1)\n mov -8(%%rsp), %%rdi\n add -128(%%rsp), %%rdi\n mov %%rdi, 48(%1)\n"
        "movq %%xmm5, %%rdi\n add %%r12, %%rdi\n add %%r13, %%rdi\n add %%r14, %%rdi\n mov %%rdi, 56(%1)\n"
        : "+a"(result) : "b"(after), "r"((uint64_t *)before)
        : "rcx", "r11", "rdi", "rsi", "rdx", "r10", "r8", "r9", "r12", "r13", "r14", "xmm5", "memory", "cc");
    if ((long)result != -ETIMEDOUT) printf("the call returned %ld\n", (long)result);
    for (int i = 0; i < 6; i++) if (before[i] != after[i]) printf("parameter %d has changed\n", i);
    if (after[6] != 42 + 43) puts("the stack has changed");
    if (after[7] != 44 + 44 + 45 + 46) puts("a register has changed");
}

static sem_t posted;
static volatile int handled;

static void *wait_long(void *result) {
    *(int *)result = sem_timedwait(&posted, &until) ? errno : 0;
    return 0;
}

static void handle(int signal) { handled = signal; }
static void clean(void *cleaned) { *(int *)cleaned = 1; }

static void *be_cancelled(void *cleaned) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_cleanup_push(clean, cleaned);
    pthread_mutex_lock(&mutex);
    sem_post(&posted);
    while (!pthread_cond_timedwait(&condition, &mutex, &until));
    pthread_cleanup_pop(0);
    return 0;
}

/* A condition that goes by the monotonic clock, which is the kernel's. */
static void monotonic(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    pthread_condattr_t kind;
    struct timespec soon;
    pthread_condattr_init(&kind);
    pthread_condattr_setclock(&kind, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &kind);
    clock_gettime(CLOCK_MONOTONIC, &soon);
    long start = soon.tv_sec * NANOS + soon.tv_nsec;
    soon.tv_nsec += 100000000;
    if (soon.tv_nsec >= NANOS) { soon.tv_nsec -= NANOS; soon.tv_sec++; }
    pthread_mutex_lock(&mutex);
    int error;
    while (!(error = pthread_cond_timedwait(&condition, &mutex, &soon)));
    long passed = now(CLOCK_MONOTONIC) - start;
    if (error != ETIMEDOUT || passed < 100000000) printf("a monotonic wait: error %d after %ld ns\n", error, passed);
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&condition);
}

/* Whatever ends a wait natively ends it here: others, signals, cancellation. */
static void ends(int is_by_library) {
    pthread_t thread;
    struct timespec moment = {0, 50000000};
    int result = -1, cleaned = 0;
    void *left;
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&posted, 0, 0);
    pthread_create(&thread, 0, wait_long, &result);
    nanosleep(&moment, 0);
    sem_post(&posted);
    pthread_join(thread, 0);
    if (result) printf("a wait that was over ended with error %d\n", result);
    pthread_create(&thread, 0, wait_long, &result);
    /* Natively too, a signal that comes before the wait ends nothing. */
    for (result = -1; result == -1;) {
        pthread_kill(thread, SIGUSR1);
        nanosleep(&moment, 0);
    }
    pthread_join(thread, 0);
    if (result != EINTR || handled != SIGUSR1) printf("a signal ended a wait with error %d\n", result);
    pthread_create(&thread, 0, be_cancelled, &cleaned);
    sem_wait(&posted);
    nanosleep(&moment, 0);
    pthread_cancel(thread);
    pthread_join(thread, &left);
    if (left != PTHREAD_CANCELED || !cleaned) puts("a cancelled thread did not end as one");
    monotonic();
    /* A library cannot stand before an instruction. */
    if (!is_by_library) registers();
    puts("done");
}

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int made, got, most;

static void *make(void *nothing) {
    for (int i = 0; i < most; i++) {
        pthread_mutex_lock(&door);
        made++;
        pthread_cond_signal(&moved);
        while (made > got) {
            struct timespec late;
            clock_gettime(CLOCK_REALTIME, &late);
            late.tv_sec += 3600;
            pthread_cond_timedwait(&moved, &door, &late);
        }
        pthread_mutex_unlock(&door);
    }
    return nothing;
}

/* Two threads that wait for each other, over and over. */
static void exchange(int times) {
    pthread_t maker;
    most = times;
    pthread_create(&maker, 0, make, 0);
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&door);
        while (made == got) {
            struct timespec late;
            clock_gettime(CLOCK_REALTIME, &late);
            late.tv_sec += 3600;
            pthread_cond_timedwait(&moved, &door, &late);
        }
        got++;
        pthread_cond_signal(&moved);
        pthread_mutex_unlock(&door);
    }
    pthread_join(maker, 0);
    printf("%d of %d\n", got, made);
}

/* A timer of the kernel that is set to a date, and one of the monotonic clock, which is the kernel's. */
static void timer(long date) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec at = {{0, 0}, {date, 0}}, old;
    timer_t id;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, 0);
    timer_create(CLOCK_MONOTONIC, &event, &id);
    clock_gettime(CLOCK_MONOTONIC, &at.it_value);
    if (timer_settime(id, TIMER_ABSTIME, &at, 0)) puts("the monotonic timer cannot be set");
    sigwaitinfo(&set, 0);
    timer_create(CLOCK_REALTIME, &event, &id);
    at.it_value = (struct timespec){date, 0};
    if (timer_settime(id, TIMER_ABSTIME, &at, &old) || old.it_value.tv_sec) puts("the timer cannot be set");
    puts("waiting");
    fflush(stdout);
    sigwaitinfo(&set, 0);
    long shown = now(CLOCK_REALTIME) / NANOS;
    printf("at %ld\n", shown >= date ? date : shown);
    /* One of atomic time, which is some seconds ahead, comes within the next second. */
    timer_create(CLOCK_TAI, &event, &id);
    clock_gettime(CLOCK_TAI, &at.it_value);
    at.it_value.tv_sec++;
    if (timer_settime(id, TIMER_ABSTIME, &at, 0)) puts("the timer of atomic time cannot be set");
    sigwaitinfo(&set, 0);
    long left = at.it_value.tv_sec * NANOS + at.it_value.tv_nsec - now(CLOCK_TAI);
    if (left > 0) printf("the timer of atomic time came %ld ns too early\n", left);
}

int main(int count, char **arguments) {
    pthread_mutexattr_t kind;
    pthread_t holder;
    sem_t held;
    char name[64];
    long value = count > 2 ? atol(arguments[2]) : 0;
    if (count < 2) return 2;
    if (!strcmp(arguments[1], "timer")) return timer(value), 0;
    if (!strcmp(arguments[1], "exchange")) return exchange((int)value), 0;
    snprintf(name, sizeof name, "/timenav-waits-%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 64};
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    mq_unlink(name);
    full = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    mq_unlink(name);
    if (full >= 0) mq_send(full, "", 1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherited, &kind);
    sem_init(&held, 0, 0);
    pthread_create(&holder, 0, hold, &held);
    sem_wait(&held);
    began = now(CLOCK_MONOTONIC);
    clock_gettime(CLOCK_REALTIME, &until);
    if (!strcmp(arguments[1], "length")) {
        /* A part of a second, and not less of it. */
        least = 200000000;
        until.tv_nsec += least;
        if (until.tv_nsec >= NANOS) { until.tv_nsec -= NANOS; until.tv_sec++; }
    } else {
        until = (struct timespec){value, 0};
    }
    if (!strcmp(arguments[1], "ends")) return ends(count > 3), 0;
    wait_in_all_ways();
    return 0;
}
