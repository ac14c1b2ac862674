/* Many starts and many threads at once, each of which looks at the time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 16
#define STARTS_MIN 200

static long expected;
static atomic_int wrong, reading;

static double monotonic(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Starts itself again and again, at least STARTS_MIN times and for so many seconds, and counts those that see another
   time. */
static int starts(char *self, char *expected, double seconds) {
    char *arguments[] = {self, "look", expected, 0};
    long started = 0, running = 0, ended_wrong = 0;
    double begin = monotonic();
    for (;;) {
        int starting = started < STARTS_MIN || monotonic() - begin < seconds;
        if (!starting && !running) break;
        if (starting && running < AT_ONCE) {
            pid_t pid = vfork();
            if (!pid) { execv(self, arguments); _exit(9); }
            if (pid < 0) { printf("fork: %s\n", strerror(errno)); return 1; }
            started++;
            running++;
            continue;
        }
        int status;
        if (wait(&status) < 0) { printf("wait: %s\n", strerror(errno)); return 1; }
        running--;
        if (status) ended_wrong++;
    }
    printf("%ld started, %ld at another time\n", started, ended_wrong);
    return 0;
}

/* Reads until the time is the one that it is to become, and looks back at what it saw before. */
static void *watch(void *from) {
    struct timespec before = {*(long *)from, 0}, now;
    reading++;
    do {
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec != before.tv_sec && now.tv_sec != expected) wrong++;
        struct timespec pause = {0, 2000000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, 0);
    } while (now.tv_sec != expected);
    return 0;
}

/* Waits for the time that it is to become. */
static void *sleep_until(void *unused) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec at = {expected, 0}, now;
    (void)unused;
    reading++;
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&never, &mutex, &at);
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_REALTIME, &now);
    if (error != ETIMEDOUT || now.tv_sec < expected) wrong++;
    return 0;
}

static int threads(int count) {
    pthread_t threads[count];
    long from = time(0);
    for (int i = 0; i < count; i++) {
        int error = pthread_create(&threads[i], 0, i % 2 ? sleep_until : watch, &from);
        if (error) { printf("pthread_create: %s\n", strerror(error)); return 1; }
    }
    while (reading < count) usleep(1000);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
    printf("%d threads, %d wrong\n", count, wrong);
    return 0;
}

/* Starts this program again and again, until it cannot. Half of what is started may be killed with the supervisor. */
static int keep_starting(char *self, char *expected) {
    char *arguments[] = {self, "look", expected, 0};
    for (;;) {
        int status;
        pid_t pid = vfork();
        if (!pid) { execv(self, arguments); _exit(errno == ENOSYS ? 9 : 8); }
        if (waitpid(pid, &status, 0) != pid) return 1;
        if (WIFSIGNALED(status)) return WTERMSIG(status) != SIGKILL;
        if (WEXITSTATUS(status)) return WEXITSTATUS(status) != 9;
        if (write(1, "started\n", 8) != 8) return 1;
    }
}

/* Waits for moments, over and over. The C library ends a program in which it cannot. */
static int keep_waiting(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    pthread_mutex_lock(&mutex);
    for (;;) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        if (at.tv_sec != expected) return 1;
        at.tv_nsec = 5000000;
        if (pthread_cond_timedwait(&never, &mutex, &at) != ETIMEDOUT) return 1;
    }
}

/* Asks the kernel, over and over. */
static int keep_asking(void) {
    for (;;) {
        struct timespec at = {-1, 0};
        if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &at)) return errno != ENOSYS;
        if (at.tv_sec != expected) return 1;
    }
}

static int keep_sleeping(void) {
    struct timespec at = {expected + 86400, 0};
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, 0) != ENOSYS;
}

/* Does all of it in many processes, until nothing can be started any more, and says how they ended. */
static int churn(char *self, char *expected) {
    pid_t sleepers[2];
    int ended = 0, wrong = 0, status;
    for (int i = 0; i < 12; i++) {
        pid_t pid = fork();
        if (pid < 0) return 1;
        if (pid && i >= 10) sleepers[i - 10] = pid;
        if (pid) continue;
        if (i < 6) _exit(keep_starting(self, expected));
        _exit(i < 8 ? keep_waiting() : i < 10 ? keep_asking() : keep_sleeping());
    }
    while (wait(&status) > 0) {
        ended++;
        if (status && !(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT || WTERMSIG(status) == SIGTERM))) wrong++;
        /* Where they sleep by themselves, they sleep on. */
        if (ended >= 10) for (int i = 0; i < 2; i++) kill(sleepers[i], SIGTERM);
    }
    printf("%d ended, %d wrong\n", ended, wrong);
    return 3;
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    expected = atol(arguments[2]);
    if (!strcmp(arguments[1], "look")) return time(0) != expected;
    if (!strcmp(arguments[1], "churn")) return churn(arguments[0], arguments[2]);
    if (count < 4) return 2;
    if (!strcmp(arguments[1], "starts")) return starts(arguments[0], arguments[2], atof(arguments[3]));
    if (!strcmp(arguments[1], "threads")) return threads(atoi(arguments[3]));
    return 2;
}
