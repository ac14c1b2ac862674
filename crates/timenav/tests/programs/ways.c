/* Starts programs in rare ways, and under filters of their own; each of them looks at the time, and says what is wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
/* musl has other functions by these names. */
#undef pread64
#undef prlimit64

static void check(const char *what, long shown, long expected) {
    if (shown != expected) printf("%s: %ld, not %ld\n", what, shown, expected);
}

/* Looks at the clock by the vDSO and by a plain system call. */
static int look(long expected) {
    struct timespec t;
    check("time", time(0), expected);
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
    check("clock_gettime by a system call", t.tv_sec, expected);
    puts("looked");
    fflush(stdout);
    return 0;
}

static void await(const char *what, pid_t pid) {
    int status = -1;
    if (pid < 0) printf("%s: %s\n", what, strerror(errno));
    else if (waitpid(pid, &status, __WALL) != pid || status) printf("%s: status %x\n", what, status);
}

/* Executes a copy of this program that has no name anywhere. */
static int nameless(char **arguments) {
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (!pid) {
            int from = open("/proc/self/exe", O_RDONLY), to = (int)syscall(SYS_memfd_create, "copy", i ? MFD_CLOEXEC : 0);
            struct stat file;
            if (fstat(from, &file) || sendfile(to, from, 0, file.st_size) != file.st_size) _exit(8);
            syscall(SYS_execveat, to, "", arguments, environ, AT_EMPTY_PATH);
            _exit(9);
        }
        await("execveat", pid);
    }
    return 0;
}

/* Starts this program by a child that shares all memory with it, as vfork does, without the C library. */
static int sharing(char **arguments) {
    struct { unsigned long flags, pidfd, child, parent, signal, stack, size, tls; } how = {
        .flags = 0x00004100 /* CLONE_VM, CLONE_VFORK */, .signal = SIGCHLD,
    };
    static char stack[1 << 16] __attribute__((aligned(16)));
    for (int i = 0; i < 3; i++) {
        if (i) how.stack = (unsigned long)stack, how.size = sizeof stack;
        if (i == 2) how.flags |= 0x00800000 /* CLONE_UNTRACED */;
        register char **environment __asm__("r12") = environ;
        register char **words __asm__("r13") = arguments;
        long pid = 435;
        /* The child has nothing on its stack, and calls nothing. */
        __asm__ volatile("syscall; test %%eax, %%eax; jnz 1f; mov (%%r13), %%rdi; mov %%r13, %%rsi; mov %%r12, %%rdx;"
                         "mov $59, %%eax; syscall; mov $9, %%edi; mov $231, %%eax; syscall; 1:"
                         : "+a"(pid) : "D"(&how), "S"(sizeof how), "r"(environment), "r"(words)
                         : "rcx", "r11", "rdx", "memory");
        /* As on systems from before Linux 5.3. */
        if (pid == -ENOSYS) pid = fork();
        if (!pid) { execv(arguments[0], arguments); _exit(9); }
        await("clone3", pid < 0 ? (errno = -(int)pid, -1) : (pid_t)pid);
    }
    return 0;
}

/* Starts this program by vfork for each line that it reads. */
static int starter(char **arguments) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        pid_t pid = vfork();
        if (!pid) { execv(arguments[0], arguments); _exit(9); }
        await("vfork", pid);
        puts("started");
        fflush(stdout);
    }
    return 0;
}

#define LOOKS 4

static long before, after;
static atomic_int wrong, reading;
static atomic_long asked;

/* Asks the kernel, again and again, until the time is the last one. */
static void *ask(void *unused) {
    struct timespec t;
    (void)unused;
    reading++;
    do {
        if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &t)) wrong++;
        if (t.tv_sec < before || t.tv_sec > after) wrong++;
        asked++;
    } while (t.tv_sec != after);
    return 0;
}

static int threads(int count) {
    pthread_t all[count];
    for (int i = 0; i < count; i++) {
        int error = pthread_create(&all[i], 0, ask, 0);
        if (error) { printf("pthread_create: %s\n", strerror(error)); return 1; }
    }
    while (reading < count) usleep(1000);
    /* As often as whoever moves the clock wants to know that all of them go on. */
    for (int i = 0; i < LOOKS; i++) {
        for (long from = asked; asked < from + 2 * count;) usleep(1000);
        puts("asked");
        fflush(stdout);
    }
    for (int i = 0; i < count; i++) pthread_join(all[i], 0);
    printf("%d threads, %d wrong\n", count, wrong);
    return 0;
}

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define END(what) BPF_STMT(BPF_RET | BPF_K, what)
#define CALL(number, verdict) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), END(verdict)
#define LET(number) CALL(number, SECCOMP_RET_ALLOW)

static int filter(struct sock_filter *list, unsigned short length) {
    struct sock_fprog program = {length, list};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What a small static program needs, and a dynamic one to begin; whatever else it asks for ends it. */
static struct sock_filter listed[] = {
    LOAD(nr), LET(execve), LET(execveat), LET(read), LET(write), LET(close), LET(fstat), LET(newfstatat), LET(openat),
    LET(pread64), LET(mmap), LET(mprotect), LET(munmap), LET(brk), LET(access), LET(arch_prctl), LET(set_tid_address),
    LET(set_robust_list), LET(rseq), LET(prlimit64), LET(getrandom), LET(readlink), LET(readlinkat), LET(uname),
    LET(ioctl), LET(writev), LET(exit), LET(exit_group), LET(clock_gettime), END(SECCOMP_RET_KILL_PROCESS),
};
/* What containers and desktops forbid. */
static struct sock_filter forbidden[] = {
    LOAD(nr), CALL(ptrace, SECCOMP_RET_ERRNO | EPERM), CALL(mount, SECCOMP_RET_ERRNO | EPERM),
    CALL(clone3, SECCOMP_RET_ERRNO | ENOSYS), CALL(gettimeofday, SECCOMP_RET_ERRNO | EPERM),
    CALL(prctl, SECCOMP_RET_ERRNO | EPERM), CALL(socketpair, SECCOMP_RET_ERRNO | EPERM), END(SECCOMP_RET_ALLOW),
};
#define INSTALL(list) filter(list, sizeof list / sizeof *list)

static atomic_int trapped;

static void on_trap(int signal, siginfo_t *told, void *unused) {
    (void)signal, (void)unused;
    trapped += told->si_syscall == SYS_getppid;
}

/* A program that shuts itself in and goes on, as OpenSSH's and Chromium's do, and waits and sleeps there. */
static int shut_in(long expected) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct sock_filter list[] = {
        LOAD(nr), CALL(getppid, SECCOMP_RET_TRAP), LET(clock_gettime), LET(gettimeofday), LET(time), LET(futex),
        LET(clock_nanosleep), LET(write), LET(fstat), LET(newfstatat), LET(rt_sigreturn), LET(exit_group), LET(brk),
        LET(writev), LET(ioctl), LET(rt_sigprocmask), END(SECCOMP_RET_KILL_PROCESS),
    };
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    puts("shut in");
    fflush(stdout);
    sigaction(SIGSYS, &action, 0);
    if (INSTALL(list)) return 8;
    look(expected);
    check("gettimeofday by a system call", syscall(SYS_gettimeofday, &(struct timespec){0}, 0), 0);
    struct timespec at = {expected, 0};
    check("clock_nanosleep", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, 0), 0);
    at.tv_nsec = 100000000;
    pthread_mutex_lock(&mutex);
    check("pthread_cond_timedwait", pthread_cond_timedwait(&never, &mutex, &at), ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    syscall(SYS_getppid);
    check("SIGSYS", trapped, 1);
    return 0;
}

/* Asks the kernel, waits, sleeps and sets timers where nobody but root may look into this process. What waits, waits for
 * what its clock shows already, whichever that is. */
static int hidden(long expected) {
    prctl(PR_SET_DUMPABLE, 0);
    struct timespec t = {-1, 0}, at = {expected, 0};
    struct timeval day = {-1, 0};
    struct itimerspec date = {{0, 0}, at};
    check("clock_gettime by a system call", syscall(SYS_clock_gettime, CLOCK_REALTIME, &t), 0);
    check("what it shows", t.tv_sec >= expected && t.tv_sec < expected + 600, 1);
    check("gettimeofday by a system call", syscall(SYS_gettimeofday, &day, 0), 0);
    check("what that shows", day.tv_sec >= expected && day.tv_sec < expected + 600, 1);
    check("clock_nanosleep", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, 0), 0);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    check("pthread_cond_timedwait", pthread_cond_timedwait(&never, &mutex, &at), ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    unsigned long count = 0;
    int file = timerfd_create(CLOCK_REALTIME, 0);
    check("timerfd_settime", timerfd_settime(file, TFD_TIMER_ABSTIME, &date, 0), 0);
    check("a timerfd", read(file, &count, sizeof count), sizeof count);
    sigset_t set;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, 0);
    check("timer_create", timer_create(CLOCK_REALTIME, &event, &timer), 0);
    check("timer_settime", timer_settime(timer, TIMER_ABSTIME, &date, 0), 0);
    check("a timer", sigwaitinfo(&set, 0), SIGUSR2);
    puts("done");
    return 0;
}

/* Executes this program where no descriptor is free. */
static int full(char **arguments) {
    struct rlimit limit = {64, 64};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0);
    execv(arguments[0], arguments);
    return 9;
}

/* Looks at the clock, and says how many descriptors there may be. */
static int bounded(long expected) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    check("descriptors", (long)limit.rlim_cur, 64);
    check("the next descriptor", open("/dev/null", O_RDONLY), -1);
    return look(expected);
}

static void interrupted(int signal) { (void)signal; }

/* Makes the calls that a supervisor answers, while a signal comes each millisecond whose handler restarts nothing. Each may
 * be interrupted, and does nothing else than it is to do. */
static int shaken(char **arguments, long expected) {
    struct sigaction action = {.sa_handler = interrupted};
    struct itimerval often = {{0, 1000}, {0, 1000}};
    struct itimerspec date = {{0, 0}, {expected + 3600, 0}};
    unsigned long made = 0, broken = 0;
    struct timespec t;
    int file = timerfd_create(CLOCK_REALTIME, 0);
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; i < 2000; i++) {
        t.tv_sec = -1;
        int asked = (int)syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
        if (asked && errno != EINTR) printf("clock_gettime: %s\n", strerror(errno));
        if (!asked) check("clock_gettime by a system call", t.tv_sec, expected);
        int set = timerfd_settime(file, TFD_TIMER_ABSTIME, &date, 0);
        if (set && errno != EINTR) printf("timerfd_settime: %s\n", strerror(errno));
        made += 2, broken += !!asked + !!set;
    }
    fprintf(stderr, "%lu of %lu calls were interrupted\n", broken, made);
    /* The timer ends with what is executed: signals that are handled do nothing there but end it. */
    for (int i = 0; i < 1000; i++) {
        execv("/nowhere", arguments);
        if (errno != ENOENT && errno != EINTR) printf("execve: %s\n", strerror(errno));
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, 0);
    execv(arguments[0], arguments);
    return 9;
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    char *way = arguments[1], *looks[] = {arguments[0], "look", arguments[2], 0};
    before = after = atol(arguments[2]);
    if (!strcmp(way, "look")) return look(before);
    if (!strcmp(way, "nameless")) return nameless(looks);
    if (!strcmp(way, "sharing")) return sharing(looks);
    if (!strcmp(way, "starter")) return starter(looks);
    if (!strcmp(way, "shut-in")) return shut_in(before);
    if (!strcmp(way, "hidden")) return hidden(before);
    if (!strcmp(way, "shaken")) return shaken(looks, before);
    if (!strcmp(way, "bounded")) return bounded(before);
    if (!strcmp(way, "full")) return looks[1] = "bounded", full(looks);
    if (!strcmp(way, "threads") && count > 4) {
        after = atol(arguments[3]);
        return threads(atoi(arguments[4]));
    }
    if (!strcmp(way, "undumpable")) {
        prctl(PR_SET_DUMPABLE, 0);
        setenv("PATH", "/nowhere:/nowhere/else:/usr/bin:/bin", 1);
        execlp("true", "true", (char *)0);
        return 9;
    }
    if (!strcmp(way, "listed") ? INSTALL(listed) : !strcmp(way, "forbidden") ? INSTALL(forbidden) : 1) return 8;
    /* Another program, if one is named; this one otherwise. */
    if (count > 3) execv(arguments[3], arguments + 3);
    else execv(looks[0], looks);
    return 9;
}
