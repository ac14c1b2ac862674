/* Runs a command under a filter as the profile of a container has one: `deny WORD… -- COMMAND`. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ARGUMENT(index) (offsetof(struct seccomp_data, args) + 8 * (index))

static struct sock_filter filter[64];
static int length;

static void add(struct sock_filter instruction) { filter[length++] = instruction; }

static void deny(int number, int error) {
    add((struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    add((struct sock_filter)RETURN(SECCOMP_RET_ERRNO | error));
}

int main(int count, char **arguments) {
    int at = 1;
    for (; at < count && strcmp(arguments[at], "--"); at++) {
        if (!strcmp(arguments[at], "listeners")) {
            add((struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 3));
            add((struct sock_filter)LOAD(ARGUMENT(1)));
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0, 1));
            add((struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EINVAL));
        } else if (!strcmp(arguments[at], "filters")) {
            deny(SYS_seccomp, EPERM);
        } else if (!strcmp(arguments[at], "ptrace")) {
            deny(SYS_ptrace, EPERM);
        } else if (!strcmp(arguments[at], "memory maps")) {
            add((struct sock_filter)LOAD(offsetof(struct seccomp_data, nr)));
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3));
            add((struct sock_filter)LOAD(ARGUMENT(0)));
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_MM, 0, 1));
            add((struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM));
        } else if (!strcmp(arguments[at], "pidfd_getfd")) {
            deny(SYS_pidfd_getfd, ENOSYS);
        } else {
            return 2;
        }
    }
    if (at + 1 >= count) return 2;
    add((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
    struct sock_fprog program = {length, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return perror("deny"), 2;
    execvp(arguments[at + 1], arguments + at + 1);
    return perror(arguments[at + 1]), 2;
}
