/* Waits in each way that has a length, each in a thread of its own.
 *
 * sleeps all SECONDS      waits in all ways, and tells of each whether the monotonic clock says that it was long enough
 * sleeps one SECONDS      a single sleep, which tells that it has begun, and how long it was by the monotonic clock
 * sleeps ticks COUNT EVERY    reads a timer that repeats
 * sleeps left SECONDS     begins waits, ends them early by a signal or a message, and tells what was left of them
 * sleeps clocks           tells whether the monotonic clock has gone back since the last line of input
 * sleeps late COUNT SECONDS   sleeps again and again, and tells by how many nanoseconds of virtual time it was late
 * sleeps timers COUNT SECONDS     sets a timer again and again, each time when it has expired
 * sleeps signals COUNT SECONDS    waits again and again, each time until a signal of another process
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static long seconds;
static unsigned word;
struct waitv { unsigned long value, address; unsigned flags, reserved; };

static long long now_in(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static struct timespec length(void) { return (struct timespec){seconds, 0}; }

static struct timespec moment(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += seconds;
    return now;
}

static struct timespec date(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += seconds;
    return now;
}

static int by_nanosleep(void) {
    struct timespec ts = length();
    return nanosleep(&ts, 0) == 0;
}

static int by_clock_nanosleep(void) {
    struct timespec ts = length();
    return clock_nanosleep(CLOCK_REALTIME, 0, &ts, 0) == 0;
}

static int by_deadline(void) {
    struct timespec ts = moment();
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, 0) == 0;
}

static int by_poll(void) { return poll(0, 0, (int)seconds * 1000) == 0; }

static int by_ppoll(void) {
    struct timespec ts = length();
    return ppoll(0, 0, &ts, 0) == 0;
}

static int by_select(void) {
    struct timeval tv = {seconds, 0};
    int pair[2];
    fd_set set;
    if (pipe(pair)) return 0;
    FD_ZERO(&set);
    FD_SET(pair[0], &set);
    return syscall(SYS_select, pair[0] + 1, &set, 0, 0, &tv) == 0 && tv.tv_sec == 0 && tv.tv_usec == 0;
}

static int by_pselect(void) {
    struct timespec ts = length();
    return pselect(0, 0, 0, 0, &ts, 0) == 0;
}

static int by_epoll_wait(void) {
    struct epoll_event event;
    return syscall(SYS_epoll_wait, epoll_create1(0), &event, 1, (int)seconds * 1000) == 0;
}

static int by_epoll_pwait(void) {
    struct epoll_event event;
    sigset_t blocked;
    sigfillset(&blocked);
    return epoll_pwait(epoll_create1(0), &event, 1, (int)seconds * 1000, &blocked) == 0;
}

static int by_epoll_pwait2(void) {
    struct epoll_event event;
    struct timespec ts = length();
    long result = syscall(SYS_epoll_pwait2, epoll_create1(0), &event, 1, &ts, 0, 8);
    return result == 0 || errno == ENOSYS;
}

static int by_futex(void) {
    struct timespec ts = length();
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ts, 0, 0) == -1 && errno == ETIMEDOUT;
}

static int by_futex_until(void) {
    struct timespec ts = moment();
    return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &ts, 0, FUTEX_BITSET_MATCH_ANY) == -1
        && errno == ETIMEDOUT;
}

static int by_futex_waitv(void) {
    struct timespec ts = moment();
    struct waitv waiter = {0, (unsigned long)&word, 2 | 128, 0};
    long result = syscall(SYS_futex_waitv, &waiter, 1, 0, &ts, CLOCK_MONOTONIC);
    return result == -1 && (errno == ETIMEDOUT || errno == ENOSYS);
}

static int by_condition(void) {
    pthread_condattr_t attributes;
    pthread_cond_t condition;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec ts = moment();
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    pthread_mutex_lock(&mutex);
    return pthread_cond_timedwait(&condition, &mutex, &ts) == ETIMEDOUT;
}

static int by_semaphore_of_realtime(void) {
    sem_t semaphore;
    struct timespec ts = date();
    sem_init(&semaphore, 0, 0);
    return sem_timedwait(&semaphore, &ts) == -1 && errno == ETIMEDOUT;
}

static int by_sigtimedwait(void) {
    struct timespec ts = length();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, 0, &ts) == -1 && errno == EAGAIN;
}

static int by_semtimedop(void) {
    struct timespec ts = length();
    struct sembuf operation = {0, -1, 0};
    int set = semget(IPC_PRIVATE, 1, 0600);
    long result = syscall(SYS_semtimedop, set, &operation, 1, &ts);
    int error = errno;
    semctl(set, 0, IPC_RMID);
    return result == -1 && error == EAGAIN;
}

/* A queue with one place, which has no name afterward. */
static mqd_t queue(void) {
    struct mq_attr one = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[64];
    sprintf(name, "/timenav-sleeps-%d-%d", (int)getpid(), (int)gettid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &one);
    mq_unlink(name);
    return queue;
}

static int by_mq_timedreceive(void) {
    struct timespec until = date();
    char byte;
    return mq_timedreceive(queue(), &byte, 1, 0, &until) == -1 && errno == ETIMEDOUT;
}

static int by_mq_timedsend(void) {
    mqd_t full = queue();
    if (mq_send(full, "1", 1, 0)) return 0;
    struct timespec until = date();
    return mq_timedsend(full, "2", 1, 0, &until) == -1 && errno == ETIMEDOUT;
}

static void *feed(void *at) {
    struct timespec pause = length();
    nanosleep(&pause, 0);
    pause = (struct timespec){seconds / 8, seconds % 8 * 125000000};
    while (send(*(int *)at, "1", 1, MSG_DONTWAIT) == 1) nanosleep(&pause, 0);
    return 0;
}

/* The kernel looks at the timeout after each message only. */
static int by_recvmmsg(void) {
    struct timespec ts = length();
    struct mmsghdr messages[64] = {0};
    pthread_t feeder;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) return 0;
    pthread_create(&feeder, 0, feed, &pair[1]);
    int count = recvmmsg(pair[0], messages, 64, 0, &ts);
    shutdown(pair[0], SHUT_RD);
    pthread_join(feeder, 0);
    return count > 0 && count < 64;
}

static int by_timerfd(void) {
    struct itimerspec timer = {{0, 0}, length()}, left;
    unsigned long count = 0;
    int file = timerfd_create(CLOCK_MONOTONIC, 0);
    long long start = now_in(CLOCK_MONOTONIC);
    if (timerfd_settime(file, 0, &timer, 0) || timerfd_gettime(file, &left)) return 0;
    int is_over = now_in(CLOCK_MONOTONIC) - start >= seconds * 1000000000LL;
    if (left.it_value.tv_sec > seconds) return 0;
    if (left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0 && !is_over) return 0;
    return read(file, &count, 8) == 8 && count == 1;
}

static int by_timerfd_until(void) {
    struct itimerspec timer = {{0, 0}, moment()};
    unsigned long count = 0;
    int file = timerfd_create(CLOCK_BOOTTIME, 0);
    if (timerfd_settime(file, TFD_TIMER_ABSTIME, &timer, 0)) return 0;
    return read(file, &count, 8) == 8 && count == 1;
}

static int by_alarm(void) {
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    alarm((unsigned)seconds);
    return sigwait(&set, &signal) == 0 && signal == SIGALRM && alarm(0) == 0;
}

static int by_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec timer = {{0, 0}, length()};
    timer_t id;
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (timer_create(CLOCK_MONOTONIC, &event, &id) || timer_settime(id, 0, &timer, 0)) return 0;
    return sigwait(&set, &signal) == 0 && signal == SIGUSR1;
}

static const struct way { const char *name; int (*wait)(void); } WAYS[] = {
    {"nanosleep", by_nanosleep}, {"clock_nanosleep", by_clock_nanosleep}, {"deadline", by_deadline}, {"poll", by_poll},
    {"ppoll", by_ppoll}, {"select", by_select}, {"pselect", by_pselect}, {"epoll_wait", by_epoll_wait},
    {"epoll_pwait", by_epoll_pwait}, {"epoll_pwait2", by_epoll_pwait2}, {"futex", by_futex},
    {"futex_until", by_futex_until}, {"futex_waitv", by_futex_waitv}, {"condition", by_condition},
    {"semaphore", by_semaphore_of_realtime}, {"sigtimedwait", by_sigtimedwait}, {"semtimedop", by_semtimedop},
    {"mq_timedreceive", by_mq_timedreceive}, {"mq_timedsend", by_mq_timedsend}, {"recvmmsg", by_recvmmsg},
    {"timerfd", by_timerfd}, {"timerfd_until", by_timerfd_until}, {"alarm", by_alarm}, {"timer", by_timer},
};
enum { COUNT = sizeof WAYS / sizeof *WAYS };

static void *in_thread(void *at) {
    const struct way *way = at;
    long long start = now_in(CLOCK_MONOTONIC);
    int is_over = way->wait();
    long long passed = now_in(CLOCK_MONOTONIC) - start;
    if (!is_over) printf("%s: wrong result, errno %d\n", way->name, errno);
    else if (passed < seconds * 1000000000LL) printf("%s: over after %lld ns\n", way->name, passed);
    return 0;
}

static int all(void) {
    pthread_t threads[COUNT];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    for (int i = 0; i < COUNT; i++) pthread_create(&threads[i], 0, in_thread, (void *)&WAYS[i]);
    puts("waiting");
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
    puts("done");
    return 0;
}

static int one(void) {
    struct timespec ts = length();
    long long start = now_in(CLOCK_MONOTONIC);
    puts("sleeping");
    nanosleep(&ts, 0);
    printf("%lld\n", (now_in(CLOCK_MONOTONIC) - start) / 1000000000LL);
    return 0;
}

static int ticks(long count, long every) {
    struct itimerspec timer = {{every, 0}, {every, 0}};
    int file = timerfd_create(CLOCK_MONOTONIC, 0);
    unsigned long found;
    long long start = now_in(CLOCK_MONOTONIC);
    timerfd_settime(file, 0, &timer, 0);
    puts("ticking");
    for (long i = 1; i <= count; i++) {
        if (read(file, &found, 8) != 8) return 1;
        if (now_in(CLOCK_MONOTONIC) - start < i * every * 1000000000LL) printf("tick %ld is early\n", i);
    }
    puts("done");
    return 0;
}

static void handle(int signal) { (void)signal; }

/* Ends a wait of this thread when it has begun, as far as can be told from outside. */
static void *disturb(void *at) {
    pthread_t thread = *(pthread_t *)at;
    long long start = now_in(CLOCK_MONOTONIC_RAW);
    while (now_in(CLOCK_MONOTONIC_RAW) - start < 200000000LL) sched_yield();
    pthread_kill(thread, SIGUSR1);
    return 0;
}

static int left(void) {
    struct sigaction action = {.sa_handler = handle};
    struct timespec ts = length(), rest = {0, 0};
    struct timeval tv = {seconds, 0};
    pthread_t self = pthread_self(), other;
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&other, 0, disturb, &self);
    int result = nanosleep(&ts, &rest);
    printf("%d %d %d\n", result, errno == EINTR, rest.tv_sec > 0 && rest.tv_sec <= seconds);
    pthread_join(other, 0);
    pthread_create(&other, 0, disturb, &self);
    result = select(0, 0, 0, 0, &tv);
    printf("%d %d %d\n", result, errno == EINTR, tv.tv_sec > 0 && tv.tv_sec <= seconds);
    pthread_join(other, 0);
    alarm((unsigned)seconds);
    unsigned rest_of_alarm = alarm(0);
    printf("%d\n", rest_of_alarm > 0 && rest_of_alarm <= seconds);
    return 0;
}

static int clocks(void) {
    char line[16];
    long long last = now_in(CLOCK_MONOTONIC);
    while (fgets(line, sizeof line, stdin)) {
        long long plain, now = now_in(CLOCK_MONOTONIC), boot;
        struct timespec ts;
        syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &ts);
        plain = ts.tv_sec * 1000000000LL + ts.tv_nsec;
        boot = now_in(CLOCK_BOOTTIME);
        printf("%lld\n", now < last || plain < now || boot < plain ? -1 : (boot - last) / 1000000000LL);
        last = boot;
    }
    return 0;
}

static int late(long count) {
    for (long i = 0; i < count; i++) {
        struct timespec ts = length();
        long long start = now_in(CLOCK_MONOTONIC);
        nanosleep(&ts, 0);
        printf("%lld\n", now_in(CLOCK_MONOTONIC) - start - seconds * 1000000000LL);
    }
    return 0;
}

static int timers(long count) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec timer = {{0, 0}, length()};
    timer_t id;
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &id)) return 1;
    puts("setting");
    for (long i = 0; i < count; i++) {
        if (timer_settime(id, 0, &timer, 0) || sigwait(&set, &signal)) return 1;
    }
    puts("done");
    return 0;
}

static int signals(long count) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pid_t parent = getpid();
    sigaction(SIGUSR1, &action, 0);
    pid_t child = fork();
    if (child == 0) {
        while (getppid() == parent) kill(parent, SIGUSR1);
        return 0;
    }
    for (long i = 0; i < count; i++) {
        if (poll(0, 0, (int)seconds * 1000) != -1 || errno != EINTR) return 1;
    }
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    puts("done");
    return 0;
}

int main(int count, char **words) {
    setvbuf(stdout, 0, _IOLBF, 0);
    const char *how = count > 1 ? words[1] : "";
    seconds = count > 2 ? atol(words[count > 3 ? 3 : 2]) : 0;
    if (!strcmp(how, "all")) return all();
    if (!strcmp(how, "one")) return one();
    if (!strcmp(how, "left")) return left();
    if (!strcmp(how, "clocks")) return clocks();
    if (!strcmp(how, "signals") && count > 3) return signals(atol(words[2]));
    if (!strcmp(how, "ticks") && count > 3) return ticks(atol(words[2]), atol(words[3]));
    if (!strcmp(how, "timers") && count > 3) return timers(atol(words[2]));
    if (!strcmp(how, "late") && count > 3) return late(atol(words[2]));
    return 2;
}
