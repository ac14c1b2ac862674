/* Reads dates, waits for each in the way that is named, and says what time it is then, or what has failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int condition(const struct timespec *until) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int error;
    while (!(error = pthread_cond_timedwait(&condition, &mutex, until)));
    pthread_mutex_unlock(&mutex);
    return error == ETIMEDOUT ? 0 : error;
}

static int semaphore(const struct timespec *until) {
    sem_t none;
    sem_init(&none, 0, 0);
    return sem_timedwait(&none, until) && errno != ETIMEDOUT ? errno : 0;
}

/* A message that nobody sends. */
static int message(const struct timespec *until) {
    static mqd_t queue = -1;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 64};
    char name[64], text[64];
    if (queue < 0) {
        snprintf(name, sizeof name, "/timenav-waiter-%d", (int)getpid());
        queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
        mq_unlink(name);
    }
    return mq_timedreceive(queue, text, sizeof text, 0, until) < 0 && errno != ETIMEDOUT ? errno : 0;
}

static pthread_mutex_t held;

static void *hold(void *is_held) {
    pthread_mutex_lock(&held);
    sem_post(is_held);
    for (;;) pause();
    return 0;
}

/* A mutex that inherits priorities, and that another thread keeps. */
static int mutex(const struct timespec *until) {
    static sem_t is_held;
    static int is_made;
    pthread_mutexattr_t kind;
    pthread_t holder;
    if (!is_made) {
        is_made = 1;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&held, &kind);
        sem_init(&is_held, 0, 0);
        pthread_create(&holder, 0, hold, &is_held);
        sem_wait(&is_held);
    }
    int error = pthread_mutex_timedlock(&held, until);
    return error == ETIMEDOUT ? 0 : error;
}

static int sleep_until(const struct timespec *until) {
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, until, 0);
}

static int timer(const struct timespec *until) {
    struct itimerspec at = {{0, 0}, *until};
    uint64_t count;
    int file = timerfd_create(CLOCK_REALTIME, 0);
    int error = timerfd_settime(file, TFD_TIMER_ABSTIME, &at, 0) ? errno : 0;
    if (!error && read(file, &count, sizeof count) != sizeof count) error = errno;
    close(file);
    return error;
}

/* A timer of the kernel, which says by a signal that it has expired. */
static int kernel_timer(const struct timespec *until) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec at = {{0, 0}, *until};
    sigset_t signals;
    timer_t timer;
    int number, error = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, 0);
    if (timer_create(CLOCK_REALTIME, &event, &timer)) return errno;
    if (timer_settime(timer, TIMER_ABSTIME, &at, 0)) error = errno;
    else error = sigwait(&signals, &number);
    timer_delete(timer);
    return error;
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        struct timespec until = {atol(line), 0};
        int error = ENOTSUP;
        puts("waiting");
        fflush(stdout);
        if (!strcmp(way, "cond_timedwait")) error = condition(&until);
        if (!strcmp(way, "sem_timedwait")) error = semaphore(&until);
        if (!strcmp(way, "mq_timedreceive")) error = message(&until);
        if (!strcmp(way, "mutex_timedlock")) error = mutex(&until);
        if (!strcmp(way, "clock_nanosleep")) error = sleep_until(&until);
        if (!strcmp(way, "timerfd")) error = timer(&until);
        if (!strcmp(way, "timer_settime")) error = kernel_timer(&until);
        if (error) printf("error %d\n", error);
        else printf("%ld\n", (long)time(0));
        fflush(stdout);
    }
    return 5;
}
