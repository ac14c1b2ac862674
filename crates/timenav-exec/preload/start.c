/* Finds the page when the program starts, or when something is asked before. */

#include "preload.h"
#include "elf.h"

const volatile struct page *clock_page;
struct originals originals;
struct run run;

static int has_begun;

enum { AT_VDSO = 33, CLOSE_ON_EXEC = 02000000, READABLE = 1, SHARED = 1 };
#define MAGIC 0x4b434f4c434e54UL

long call(u64 number, u64 first, u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth) {
    register u64 r10 __asm__("r10") = fourth;
    register u64 r8 __asm__("r8") = fifth;
    register u64 r9 __asm__("r9") = sixth;
    long result;
    __asm__ volatile("syscall" : "=a"(result)
        : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
}

static long plain_clock(int id, struct timespec *shown) { return CALL(CLOCK_GETTIME, id, shown); }

/* Reads a file of a few kilobytes, and ends it with a zero. */
static long read_file(const char *path, char *into, u64 most) {
    long file = CALL(OPEN, path, CLOSE_ON_EXEC), length = 0, count = 1;
    if (file < 0) return file;
    while (count > 0 && (u64)length < most - 1) {
        count = CALL(READ, file, into + length, most - 1 - (u64)length);
        if (count > 0) length += count;
    }
    CALL(CLOSE, file);
    into[length] = 0;
    return length;
}

enum found { UNKNOWN, NONE, FOUND };

/* Finds a variable in what the kernel has of the environment, as it was when the program was started. */
static enum found read_variable(char *into) {
    char chunk[512];
    const char *wanted = PAGE_VARIABLE;
    u64 most = sizeof run.variable, length = 0, matched = 0;
    int is_beginning = 1, is_found = 0;
    long count, file = CALL(OPEN, "/proc/self/environ", CLOSE_ON_EXEC);
    if (file < 0) return UNKNOWN;
    while ((count = CALL(READ, file, chunk, sizeof chunk)) > 0) {
        for (long i = 0; i < count; i++) {
            char next = chunk[i];
            if (is_found) {
                if (length < most - 1) into[length++] = next;
                if (!next) goto done;
            } else if (is_beginning && next == wanted[matched]) {
                into[length++] = next;
                if (!wanted[++matched]) is_found = 1;
            } else {
                is_beginning = !next;
                matched = length = 0;
            }
        }
    }
done:
    CALL(CLOSE, file);
    into[is_found ? length : 0] = 0;
    return is_found ? FOUND : NONE;
}

static enum found find_variable(char *into) {
    /* Early in a program the C library has no environment yet. */
    if (!&environ || !environ) return read_variable(into);
    for (char **at = environ; *at; at++) {
        if (begins(*at, PAGE_VARIABLE) && length_of(*at) < sizeof run.variable) {
            copy(into, *at);
            return FOUND;
        }
    }
    return NONE;
}

static i64 number(const char **text) {
    i64 value = 0, sign = 1;
    while (**text == ' ' || **text == '\t') (*text)++;
    if (**text == '-') { sign = -1; (*text)++; }
    while (**text >= '0' && **text <= '9') value = value * 10 + *(*text)++ - '0';
    return sign * value;
}

/* By how much the boot clock here is ahead of the supervisor's (time_namespaces(7)). */
static void find_shift(const struct told *told) {
    char text[512];
    originals.shift_sec = -told->boot_sec;
    originals.shift_nsec = -told->boot_nsec;
    if (read_file("/proc/self/timens_offsets", text, sizeof text) <= 0) return;
    for (const char *at = text; *at; at++) {
        if ((at == text || at[-1] == '\n') && begins(at, "boottime")) {
            at += length_of("boottime");
            originals.shift_sec += number(&at);
            originals.shift_nsec += number(&at);
            return;
        }
    }
}

static int complain(const char *text) {
    CALL(WRITE, 2, text, length_of(text));
    return 1;
}

/* Returns whether it is known by now whether there is a page. */
static int find_page(void) {
    enum found found = find_variable(run.variable);
    if (found != FOUND) return found == NONE;
    const char *path = run.variable + length_of(PAGE_VARIABLE);
    long file = CALL(OPEN, path, CLOSE_ON_EXEC);
    long at = file < 0 ? file : CALL(MMAP, 0, 2 * PAGE, READABLE, SHARED, file, 0);
    if (file >= 0) CALL(CLOSE, file);
    const struct page *page = (const struct page *)at;
    if (at < 0 && at > -4096)
        return complain("timenav exec: a program runs on host time: it cannot open the clock page\n");
    if (page->magic != MAGIC || page->version != 1)
        return complain("timenav exec: a program runs on host time: its clock page is of another version of timenav\n");
    const struct told *told = (const struct told *)(at + PAGE);
    find_shift(told);
    run.is_strict = told->is_strict != 0;
    char *slash = copy(run.socket, path);
    while (slash > run.socket && *slash != '/') slash--;
    copy(slash, "/supervisor");
    char *folder = copy(run.library, run.socket);
    copy(folder - length_of("supervisor"), "libtimenav.so");
    __atomic_store_n(&clock_page, page, __ATOMIC_RELEASE);
    return 1;
}

static void find_clock(void) {
    u64 vdso = getauxval ? getauxval(AT_VDSO) : 0;
    void *found = vdso ? function_of_image(vdso, "__vdso_clock_gettime") : 0;
    originals.clock_gettime = found ? (long (*)(int, struct timespec *))found : plain_clock;
}

__attribute__((constructor)) static void begin(void) {
    if (__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE)) return;
    find_clock();
    if (find_page()) __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
}

int on_clock(void) {
    if (__builtin_expect(!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE), 0)) begin();
    return clock_page != 0;
}
