/* A library that is loaded into dynamically linked programs (LD_PRELOAD) and puts them on a clock page.
 *
 * For systems where nobody may listen to system calls or trace (src/ways.rs). It needs no C library: what it uses of
 * one is found when it is there, so it works with each. Memory is never allocated, since programs call it from
 * anywhere, also between `vfork` and `execve` and in handlers of signals.
 */

#include <stdarg.h>

#include "../image/page.h"

#define SHOWN __attribute__((visibility("default")))
#define WEAK __attribute__((weak, visibility("default")))

/* What the supervisor wrote after the page: `Folder::page` in src/preload.rs. */
struct told { i64 boot_sec, boot_nsec; u64 is_strict; };

enum { PAGE = 4096, PATH_MAX = 4096 };

/* The page, once `on_clock` has said that it is there. */
extern const volatile struct page *clock_page;
extern struct originals originals;
#define CLOCK (*clock_page)
#define ORIGINALS originals

/* Where the run has its files, and what names them in the environment of a program. */
struct run {
    int is_strict;
    char variable[PATH_MAX + 32], library[PATH_MAX + 32], socket[PATH_MAX + 32];
};
extern struct run run;
#define PAGE_VARIABLE "TIMENAV_CLOCK_PAGE="
#define PRELOAD_VARIABLE "LD_PRELOAD="

/* Returns whether this program is on a clock. It is not where somebody else loads the library. */
int on_clock(void);

/* Finds a function of a library that comes after this one; null if there is none. */
void *next_function(const char *name);
/* The function that this one stands before, which is looked for once. */
#define NEXT(name) ({ \
    static __typeof__(&name) found; \
    if (!found) found = (__typeof__(&name))next_function(#name); \
    found; })

/* Numbers of system calls and of errors. */
enum {
    READ = 0, WRITE = 1, OPEN = 2, CLOSE = 3, FSTAT = 5, MMAP = 9, PREAD = 17, ACCESS = 21, SOCKET = 41, SENDMSG = 46,
    EXECVE = 59, GETTIMEOFDAY = 96, GETEUID = 107, GETEGID = 108, PRCTL = 157, ADJTIMEX = 159,
    SETTIMEOFDAY = 164, FGETXATTR = 193, TIME = 201, CLOCK_SETTIME = 227, CLOCK_GETTIME = 228,
    MQ_TIMEDSEND = 242, MQ_TIMEDRECEIVE = 243,
    TIMERFD_CREATE = 283, TIMERFD_SETTIME = 286, CLOCK_ADJTIME = 305, EXECVEAT = 322
};
enum { NOT_PERMITTED = 1, NOT_SUPPORTED = 38, NO_OPERATION = 95, TIMEOUT = 110 };

/* Makes a system call, and tells an error by a negative number. */
long call(u64 number, u64 first, u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth);
#define CALL(number, ...) CALL_WITH(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_WITH(number, a, b, c, d, e, f, ...) \
    call(number, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))

static inline long make(u64 number, const u64 *asked) {
    return call(number, asked[0], asked[1], asked[2], asked[3], asked[4], asked[5]);
}

extern int *__errno_location(void) WEAK;
extern unsigned long getauxval(unsigned long) WEAK;
extern char **environ WEAK;

/* Returns what a function returns whose errors are in `errno`. */
static inline long by_errno(long result) {
    if (result >= 0 || result < -4095) return result;
    if (__errno_location) *__errno_location() = (int)-result;
    return -1;
}

static inline u64 length_of(const char *text) {
    u64 length = 0;
    while (text[length]) length++;
    return length;
}

static inline int begins(const char *text, const char *with) {
    while (*with) if (*text++ != *with++) return 0;
    return 1;
}

/* Copies a text with its end, and returns where the end is. */
static inline char *copy(char *to, const char *text) {
    while ((*to = *text++)) to++;
    return to;
}

/* Whether a moment is one that the kernel takes. */
static inline int is_right(const struct timespec *at) {
    return at && at->sec >= 0 && at->nsec >= 0 && at->nsec < NANOS;
}

/* What is noted of objects by their addresses or numbers (notes.c). */
enum { MONOTONIC_CONDITION = 1, SHARED_CONDITION, REALTIME_TIMER, DESCRIPTOR, TAI_TIMER };
void note(u64 object, int kind);
void forget(u64 object, int kind);
int is_noted(u64 object, int kind);
/* Whether there was once no room for a note. */
int has_lost_notes(void);

/* What the supervisor is told (tell.c). */
struct timer_told { u64 kind; struct timespec until, interval; i64 from, to; };
void tell_of_timer(int descriptor, const struct timer_told *timer);
enum { OF_TIMER = 1, OF_PROGRAM = 2 };
/* Why a program will not be on the clock: `OutOfReach` in src/inspect.rs. */
enum reach { REACHED, STATIC_PROGRAM, GO_PROGRAM, NARROW_PROGRAM, RIGHTS_GAINED, LIBRARY_HIDDEN };
void tell_of_program(enum reach reach, const char *path);

/* Whether a program can be put on the clock (reach.c), which may be in the folder of a descriptor. */
enum reach reach_of(int folder, const char *path);

/* The calls that have a function of their own, for `syscall`. */
long settle_timerfd(int descriptor, int flags, const void *new, void *old);
long execute(int folder, const char *path, char *const *arguments, char *const *environment, int flags,
             int has_folder);
