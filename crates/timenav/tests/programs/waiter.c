/* Reads dates, waits for each in the way that is named, and says what time it is then, or what has failed. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
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
        if (!strcmp(way, "clock_nanosleep")) error = sleep_until(&until);
        if (!strcmp(way, "timerfd")) error = timer(&until);
        if (error) printf("error %d\n", error);
        else printf("%ld\n", (long)time(0));
        fflush(stdout);
    }
    return 5;
}
