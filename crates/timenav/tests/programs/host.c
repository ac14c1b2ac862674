/* Asks for what stays host time under a virtual clock, and prints what does not. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void check(const char *what, long shown, long least, long most) {
    if (shown < least || shown > most) printf("%s: %ld, not %ld to %ld\n", what, shown, least, most);
}

/* Sets a timeout in a ring, and returns whether it ends within so many milliseconds; -1 without rings. */
static int ring_timeout(unsigned flags, struct __kernel_timespec at, int patience) {
    struct io_uring_params of = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 2, &of);
    if (ring < 0) return -1;
    size_t size = of.sq_off.array + of.sq_entries * sizeof(unsigned);
    char *queue = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(0, of.sq_entries * sizeof *entry, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
    if (queue == MAP_FAILED || (void *)entry == MAP_FAILED) return -1;
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_TIMEOUT;
    entry->fd = -1;
    entry->addr = (uint64_t)&at;
    entry->len = 1;
    entry->timeout_flags = flags;
    unsigned *tail = (unsigned *)(queue + of.sq_off.tail), mask = *(unsigned *)(queue + of.sq_off.ring_mask);
    ((unsigned *)(queue + of.sq_off.array))[*tail & mask] = 0;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, 0, 0) != 1) return -1;
    struct pollfd polled = {ring, POLLIN, 0};
    int found = poll(&polled, 1, patience);
    close(ring);
    return found;
}

/* What rings are mostly used for: lengths of time, and moments of the monotonic clock. */
static int other_timeouts(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int ends = ring_timeout(0, (struct __kernel_timespec){0, 50000000}, 10000);
    if (ends < 0) return puts("no rings") < 0;
    check("a length", ends, 1, 1);
    check("a length of realtime", ring_timeout(IORING_TIMEOUT_REALTIME, (struct __kernel_timespec){0, 50000000}, 10000), 1, 1);
    check("a moment", ring_timeout(IORING_TIMEOUT_ABS, (struct __kernel_timespec){now.tv_sec, 0}, 10000), 1, 1);
    check("a later moment", ring_timeout(IORING_TIMEOUT_ABS, (struct __kernel_timespec){now.tv_sec + 600, 0}, 100), 0, 0);
    puts("ready");
    fflush(stdout);
    getchar();
    return 0;
}

static void timers(long shown) {
    int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
    struct itimerspec at = {{0, 0}, {shown + 3600, 0}}, left;
    timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, 0);
    timerfd_gettime(timer, &left);
    puts("ready");
    fflush(stdout);
    getchar();
    /* The clock was set meanwhile; natively this would be ECANCELED. */
    uint64_t count;
    long result = read(timer, &count, sizeof count);
    if (result >= 0 || errno != EAGAIN) printf("a timer was cancelled: %ld, error %d\n", result, errno);
}

/* Returns when a packet came, as the kernel stamps it. */
static long stamp_of_a_packet(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int ends = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
    char text[8], control[128];
    struct iovec part = {text, sizeof text};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct timespec stamp = {0};
    setsockopt(ends, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    bind(ends, (struct sockaddr *)&at, length);
    getsockname(ends, (struct sockaddr *)&at, &length);
    if (sendto(ends, "x", 1, 0, (struct sockaddr *)&at, length) != 1 || recvmsg(ends, &message, 0) != 1) return -1;
    if (CMSG_FIRSTHDR(&message)) memcpy(&stamp, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof stamp);
    close(ends);
    return stamp.tv_sec;
}

int main(int count, char **arguments) {
    if (count == 2) return other_timeouts();
    if (count < 4) return 2;
    long host = atol(arguments[1]), shown = atol(arguments[2]);
    struct stat file;
    check("time", time(0), shown, shown);
    FILE *made = fopen(arguments[3], "w");
    if (!made || fclose(made) || stat(arguments[3], &file)) return 2;
    check("the time of a file", file.st_mtime, host - 2, host + 600);
    check("the time of a packet", stamp_of_a_packet(), host - 2, host + 600);
    unsigned date = IORING_TIMEOUT_ABS | IORING_TIMEOUT_REALTIME;
    int is_soon = ring_timeout(date, (struct __kernel_timespec){host - 1, 0}, 10000);
    int is_late = ring_timeout(date, (struct __kernel_timespec){shown - 3600, 0}, 200);
    if (is_soon < 0) puts("no rings");
    else if (is_soon != 1 || is_late != 0) printf("timeouts of a ring: %d %d\n", is_soon, is_late);
    timers(shown);
    puts("done");
    return 0;
}
