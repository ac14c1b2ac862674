/* The cost of `timenav exec` for a program: prints nanoseconds of the monotonic clock. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static long monotonic(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000L + at.tv_nsec;
}

/* The minimum of several batches, because other load only increases their times. */
static double read_nanos(const char *way, long count) {
    clockid_t clock = !strcmp(way, "monotonic") ? CLOCK_MONOTONIC
                    : !strcmp(way, "coarse") ? CLOCK_REALTIME_COARSE : CLOCK_REALTIME;
    int is_time = !strcmp(way, "time");
    double best = 1e18;
    for (int batch = 0; batch < 20; batch++) {
        struct timespec shown;
        long from = monotonic();
        if (is_time) for (long i = 0; i < count; i++) time(0);
        else for (long i = 0; i < count; i++) clock_gettime(clock, &shown);
        double nanos = (double)(monotonic() - from) / count;
        if (nanos < best) best = nanos;
    }
    return best;
}

static int compare(const void *a, const void *b) {
    long left = *(const long *)a, right = *(const long *)b;
    return (left > right) - (left < right);
}

/* The median time of starting this program to do nothing, and waiting for its exit. */
static double spawn_nanos(char *self, long count) {
    char *arguments[] = {self, "nothing", 0}, *nothing[] = {0};
    long *times = malloc(count * sizeof *times);
    for (long i = 0; i < count; i++) {
        pid_t pid;
        int status;
        long from = monotonic();
        if (posix_spawn(&pid, self, 0, 0, arguments, nothing) || waitpid(pid, &status, 0) != pid) exit(1);
        times[i] = monotonic() - from;
    }
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

/* Polls the clock, and prints when it detected each jump, and to which second. */
static void watch(void) {
    struct timespec shown, before;
    clock_gettime(CLOCK_REALTIME, &before);
    printf("watching\n");
    for (;;) {
        fflush(stdout);
        for (;;) {
            clock_gettime(CLOCK_REALTIME, &shown);
            if (labs(shown.tv_sec - before.tv_sec) > 60) break;
            before = shown;
            struct timespec moment = {0, 20000};
            clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, 0);
        }
        printf("%ld %ld\n", (long)shown.tv_sec, monotonic());
        before = shown;
    }
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    long number = count > 2 ? atol(arguments[2]) : 0;
    if (!strcmp(arguments[1], "nothing")) return 0;
    if (!strcmp(arguments[1], "watch")) watch();
    printf("%.2f\n", !strcmp(arguments[1], "spawn") ? spawn_nanos(arguments[0], number)
                                                    : read_nanos(arguments[1], number));
    return 0;
}
