/* Asks for the time in every way that a C program has, and prints what does not agree. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void check(const char *what, long shown, long expected) {
    if (shown != expected) printf("%s: %ld, not %ld\n", what, shown, expected);
}

static int readings(long expected) {
    struct timespec t;
    struct timeval v;
    int ids[] = {CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_REALTIME_ALARM};
    for (int i = 0; i < 3; i++) {
        clock_gettime(ids[i], &t);
        check("clock_gettime", t.tv_sec, expected);
        syscall(SYS_clock_gettime, ids[i], &t);
        check("clock_gettime by a system call", t.tv_sec, expected);
    }
    gettimeofday(&v, 0);
    check("gettimeofday", v.tv_sec, expected);
    syscall(SYS_gettimeofday, &v, 0);
    check("gettimeofday by a system call", v.tv_sec, expected);
    check("time", time(0), expected);
    if (expected > 0) check("time by a system call", syscall(SYS_time, 0), expected);
    timespec_get(&t, TIME_UTC);
    check("timespec_get", t.tv_sec, expected);
    struct timex x;
    memset(&x, 0, sizeof x);
    if (adjtimex(&x) >= 0) {
        check("adjtimex", x.time.tv_sec, expected);
        struct ntptimeval n;
        ntp_gettime(&n);
        check("ntp_gettime", n.time.tv_sec, expected);
        check("its offset of atomic time", n.tai, x.tai);
        clock_gettime(CLOCK_TAI, &t);
        check("atomic time", t.tv_sec, expected + x.tai);
        syscall(SYS_clock_gettime, CLOCK_TAI, &t);
        check("atomic time by a system call", t.tv_sec, expected + x.tai);
    }
    /* The monotonic clock is the kernel's, whichever way it is asked. */
    struct timespec a, b, c;
    clock_gettime(CLOCK_MONOTONIC, &a);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &b);
    clock_gettime(CLOCK_MONOTONIC, &c);
    check("order of monotonic readings", a.tv_sec * 1000000000L + a.tv_nsec <= b.tv_sec * 1000000000L + b.tv_nsec &&
          b.tv_sec * 1000000000L + b.tv_nsec <= c.tv_sec * 1000000000L + c.tv_nsec, 1);
    /* Nobody sets the clock. */
    t.tv_sec = 1;
    check("clock_settime", clock_settime(CLOCK_REALTIME, &t) == -1 && errno == EPERM, 1);
    check("settimeofday", settimeofday(&v, 0) == -1 && errno == EPERM, 1);
    memset(&x, 0, sizeof x);
    x.modes = ADJ_SETOFFSET;
    check("adjtimex that sets", adjtimex(&x) == -1 && errno == EPERM, 1);
    puts("done");
    return 0;
}

static void *execute(void *arguments) {
    execv(((char **)arguments)[0], arguments);
    return 0;
}

/* Starts itself in every way that a C program has. */
static int starts(char *self, char *expected) {
    char *arguments[] = {self, "readings", expected, 0};
    int status;
    pid_t pid;
    fflush(stdout);
    if (!(pid = fork())) execv(self, arguments);
    waitpid(pid, &status, 0);
    if (!(pid = vfork())) { execv(self, arguments); _exit(1); }
    waitpid(pid, &status, 0);
    posix_spawn(&pid, self, 0, 0, arguments, environ);
    waitpid(pid, &status, 0);
    /* Without a signal at its end, and out of reach of a tracer that follows forks. */
    pid = syscall(SYS_clone, 0x00800000 /* CLONE_UNTRACED */, 0, 0, 0, 0);
    if (!pid) execv(self, arguments);
    waitpid(pid, &status, __WALL);
    /* The same without the C library, which has its own ways to `clone3`. */
    unsigned long ways[] = {0, 0x00004000 /* CLONE_VFORK */, 0x00800000 /* CLONE_UNTRACED */};
    for (int i = 0; i < 3; i++) {
        struct { unsigned long flags, pidfd, child, parent, signal, stack, size, tls; } how = {ways[i], .signal = SIGCHLD};
        pid = syscall(SYS_clone3, &how, sizeof how);
        if (pid < 0 && errno == ENOSYS) pid = fork();
        if (!pid) { execv(self, arguments); _exit(1); }
        waitpid(pid, &status, 0);
        if (status) printf("clone3 of %lx: status %x\n", ways[i], status);
    }
    if (!(pid = fork())) {
        char *empty[] = {"PATH=/nowhere", 0};
        char name[64];
        for (int i = 0; i < 20; i++) {
            snprintf(name, sizeof name, "/nowhere/%d", i);
            execve(name, arguments, empty);
        }
        pthread_t thread;
        pthread_create(&thread, 0, execute, arguments);
        pthread_join(thread, 0);
    }
    waitpid(pid, &status, 0);
    return 0;
}

int main(int count, char **arguments) {
    long value = count > 2 ? atol(arguments[2]) : 0;
    if (count < 2) return 2;
    if (!strcmp(arguments[1], "readings")) return readings(value);
    if (!strcmp(arguments[1], "starts")) return starts(arguments[0], arguments[2]);
    if (!strcmp(arguments[1], "sleep")) {
        struct timespec until = {value, 0};
        puts("sleeping");
        fflush(stdout);
        int error = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, 0);
        printf("%d at %ld\n", error, (long)(time(0) >= value ? value : time(0)));
        return 0;
    }
    if (!strcmp(arguments[1], "timer")) {
        int fd = timerfd_create(CLOCK_REALTIME, 0);
        struct itimerspec at = {{0, 0}, {value, 0}};
        long expirations = 0;
        check("timerfd_settime", timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, 0), 0);
        puts("sleeping");
        fflush(stdout);
        if (read(fd, &expirations, sizeof expirations) != sizeof expirations) return 1;
        printf("0 at %ld\n", (long)(time(0) >= value ? value : time(0)));
        return 0;
    }
    if (!strcmp(arguments[1], "inherited")) {
        /* Whoever has set the timer ends, and a child waits for it, by another number. */
        int fd = timerfd_create(CLOCK_REALTIME, 0), other = dup(fd);
        struct itimerspec at = {{0, 0}, {value, 0}};
        pid_t parent = getpid();
        long expirations = 0;
        check("timerfd_settime", timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, 0), 0);
        if (fork()) return 0;
        close(fd);
        while (getppid() == parent) usleep(1000);
        puts("sleeping");
        fflush(stdout);
        if (read(other, &expirations, sizeof expirations) != sizeof expirations) return 1;
        printf("0 at %ld\n", (long)(time(0) >= value ? value : time(0)));
        return 0;
    }
    return 2;
}
