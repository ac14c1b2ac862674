/* What a program executes: it gets the library and the page too, even if its environment was emptied on the way. */

#include "preload.h"

enum { HERE = -100, TOO_LONG = 7, TEXT_MAX = 2 * PATH_MAX, FOUND_MAX = PATH_MAX, EXECUTABLE = 1 };

/* Whether a list as of LD_PRELOAD names the library. */
static int names_library(const char *list) {
    u64 length = length_of(run.library);
    for (const char *at = list; *at; at++)
        if (begins(at, run.library) && (!at[length] || at[length] == ':' || at[length] == ' ')) return 1;
    return 0;
}

/* Returns how many variables there are, and whether those of the run are among them. */
static u64 looked_at(char *const *environment, int *is_whole, const char **preloaded) {
    int has_page = 0, has_library = 0;
    u64 count = 0;
    *preloaded = 0;
    for (; environment && environment[count]; count++) {
        const char *variable = environment[count];
        if (begins(variable, PAGE_VARIABLE)) has_page = begins(variable, run.variable);
        if (begins(variable, PRELOAD_VARIABLE)) {
            *preloaded = variable + length_of(PRELOAD_VARIABLE);
            has_library = names_library(*preloaded);
        }
    }
    *is_whole = has_page && has_library;
    return count;
}

/* Adds to an environment what leads to the page. `into` has room for two more, and `text` for the list of libraries. */
static void complete(char *const *environment, const char *preloaded, char **into, char *text) {
    for (; environment && *environment; environment++)
        if (!begins(*environment, PAGE_VARIABLE) && !begins(*environment, PRELOAD_VARIABLE)) *into++ = *environment;
    char *end = copy(copy(text, PRELOAD_VARIABLE), run.library);
    if (preloaded && *preloaded && !names_library(preloaded)) copy(copy(end, ":"), preloaded);
    else if (preloaded && *preloaded) copy(copy(text, PRELOAD_VARIABLE), preloaded);
    *into++ = text;
    *into++ = run.variable;
    *into = 0;
}

/* Runs a statement with an environment that has what leads to the page, on the stack: there may be no other memory. */
#define WITH_ENVIRONMENT(asked, whole, statement) do { \
    int is_whole; \
    const char *preloaded; \
    u64 count = looked_at(asked, &is_whole, &preloaded); \
    if (is_whole || !on_clock()) { \
        char *const *whole = asked; \
        statement; \
    } else { \
        u64 length = length_of(PRELOAD_VARIABLE) + sizeof run.library + (preloaded ? length_of(preloaded) : 0); \
        char *text = __builtin_alloca(length + 2), **made = __builtin_alloca((count + 3) * sizeof *made); \
        complete(asked, preloaded, made, text); \
        char *const *whole = made; \
        statement; \
    } \
} while (0)

/* Says of a program that it will not be on the clock. Returns whether it may be executed. */
static int may_execute(int folder, const char *path) {
    enum reach reach = reach_of(folder, path);
    if (reach == REACHED) return 1;
    tell_of_program(reach, path);
    return !run.is_strict;
}

long execute(int folder, const char *path, char *const *arguments, char *const *environment, int flags,
             int has_folder) {
    char own[64];
    const char *looked = path;
    if (has_folder && path && !*path && folder >= 0) {
        /* The descriptor is the program itself. */
        char digits[12], *digit = digits + sizeof digits - 1;
        unsigned left = (unsigned)folder;
        for (*digit = 0; left || !*digit; left /= 10) *--digit = (char)('0' + left % 10);
        copy(copy(own, "/proc/self/fd/"), digit);
        looked = own;
    }
    if (!may_execute(has_folder ? folder : HERE, looked)) return -NOT_PERMITTED;
    long result = 0;
    WITH_ENVIRONMENT(environment, whole, {
        result = has_folder ? CALL(EXECVEAT, folder, path, arguments, whole, flags)
                            : CALL(EXECVE, path, arguments, whole);
    });
    return result;
}

/* Finds a program as `execvp` does, to look at it. Returns null where there is none. */
static const char *find(const char *name, char *into) {
    const char *folders = 0;
    for (const char *at = name; *at; at++) if (*at == '/') return name;
    for (char **at = environ; at && *at; at++) if (begins(*at, "PATH=")) folders = *at + length_of("PATH=");
    if (!folders) folders = "/bin:/usr/bin";
    while (*name) {
        u64 length = 0;
        while (folders[length] && folders[length] != ':') length++;
        if (length + length_of(name) + 2 < FOUND_MAX) {
            char *end = into;
            for (u64 i = 0; i < length; i++) *end++ = folders[i];
            if (length) *end++ = '/';
            copy(end, name);
            if (!CALL(ACCESS, into, EXECUTABLE)) return into;
        }
        if (!folders[length]) return 0;
        folders += length + 1;
    }
    return 0;
}

static int may_execute_named(const char *name) {
    char found[FOUND_MAX];
    const char *path = on_clock() ? find(name, found) : 0;
    return !path || may_execute(HERE, path);
}

SHOWN int execve(const char *path, char *const *arguments, char *const *environment) {
    return (int)by_errno(execute(HERE, path, arguments, environment, 0, 0));
}

SHOWN int execv(const char *path, char *const *arguments) {
    return (int)by_errno(execute(HERE, path, arguments, environ, 0, 0));
}

SHOWN int execveat(int folder, const char *path, char *const *arguments, char *const *environment, int flags) {
    return (int)by_errno(execute(folder, path, arguments, environment, flags, 1));
}

SHOWN int fexecve(int file, char *const *arguments, char *const *environment) {
    return (int)by_errno(execute(file, "", arguments, environment, 0x1000, 1));
}

int execvpe(const char *, char *const *, char *const *);
static __typeof__(&execvpe) find_execvpe(void) { return NEXT(execvpe); }

/* Found before there are threads and forks, in which nothing can be looked for safely. */
__attribute__((constructor)) static void find_next(void) {
    find_execvpe();
}

SHOWN int execvpe(const char *name, char *const *arguments, char *const *environment) {
    __typeof__(&execvpe) next = find_execvpe();
    if (!next) return (int)by_errno(-NOT_SUPPORTED);
    if (!may_execute_named(name)) return (int)by_errno(-NOT_PERMITTED);
    int result = -1;
    WITH_ENVIRONMENT(environment, whole, result = next(name, arguments, whole));
    return result;
}

SHOWN int execvp(const char *name, char *const *arguments) { return execvpe(name, arguments, environ); }

/* Collects the arguments of a function that takes them one by one, and an environment after them if it has one. */
#define LISTED(first, last, has_environment, statement) do { \
    va_list list; \
    u64 count = first != 0; \
    va_start(list, last); \
    while (first && va_arg(list, char *)) count++; \
    va_end(list); \
    char **arguments = __builtin_alloca((count + 1) * sizeof *arguments); \
    va_start(list, last); \
    arguments[0] = (char *)first; \
    for (u64 i = 1; i <= count; i++) arguments[i] = va_arg(list, char *); \
    char *const *environment = has_environment ? va_arg(list, char *const *) : environ; \
    va_end(list); \
    statement; \
} while (0)

SHOWN int execl(const char *path, const char *first, ...) {
    LISTED(first, first, 0, return execve(path, arguments, environment));
}

SHOWN int execle(const char *path, const char *first, ...) {
    LISTED(first, first, 1, return execve(path, arguments, environment));
}

SHOWN int execlp(const char *name, const char *first, ...) {
    LISTED(first, first, 0, return execvpe(name, arguments, environment));
}

SHOWN int posix_spawn(int *pid, const char *path, const void *actions, const void *attributes, char *const *arguments,
                      char *const *environment) {
    __typeof__(&posix_spawn) next = NEXT(posix_spawn);
    if (!next) return NOT_SUPPORTED;
    if (!may_execute(HERE, path)) return NOT_PERMITTED;
    int result = 0;
    WITH_ENVIRONMENT(environment, whole, result = next(pid, path, actions, attributes, arguments, whole));
    return result;
}

SHOWN int posix_spawnp(int *pid, const char *name, const void *actions, const void *attributes, char *const *arguments,
                       char *const *environment) {
    __typeof__(&posix_spawnp) next = NEXT(posix_spawnp);
    if (!next) return NOT_SUPPORTED;
    if (!may_execute_named(name)) return NOT_PERMITTED;
    int result = 0;
    WITH_ENVIRONMENT(environment, whole, result = next(pid, name, actions, attributes, arguments, whole));
    return result;
}
