/* Whether a program that is about to be executed can be put on the clock. */

#include "preload.h"
#include "elf.h"

enum { HEAD = 4096, INTERPRETERS_MAX = 5, SEGMENTS_MAX = 64, CLOSE_ON_EXEC = 02000000, AT_ONCE = 04000, READABLE = 4 };
enum { OPENAT = 257, X86_64 = 62, WIDE = 2, NARROW = 1, GET_NO_NEW_PRIVS = 39, SET_USER = 04000, SET_GROUP = 02010 };

struct status {
    u64 device, inode, links;
    unsigned mode, user, group, pad;
    i64 rest[14];
};

/* Whether a file gives its program rights that this process does not have. */
static int gains(long file) {
    struct status status;
    if (CALL(PRCTL, GET_NO_NEW_PRIVS) == 1 || CALL(FSTAT, file, &status)) return 0;
    if (status.mode & SET_USER && status.user != (unsigned)CALL(GETEUID)) return 1;
    if ((status.mode & SET_GROUP) == SET_GROUP && status.group != (unsigned)CALL(GETEGID)) return 1;
    return CALL(GETEUID) != 0 && CALL(FGETXATTR, file, "security.capability", 0, 0) > 0;
}

/* Whether one of the notes is by the linker of Go: its programs ask the kernel without a C library. */
static int is_of_go(long file, const struct segment *notes) {
    unsigned char text[1024];
    long length = CALL(PREAD, file, text, sizeof text, notes->offset);
    if ((u64)length > notes->file_size) length = (long)notes->file_size;
    for (long at = 0; at + 16 <= length;) {
        const unsigned *head = (const unsigned *)(text + at);
        if (head[0] == 4 && begins((const char *)(head + 3), "Go")) return 1;
        at += 12 + (head[0] + 3L) / 4 * 4 + (head[1] + 3L) / 4 * 4;
    }
    return 0;
}

static enum reach reach_of_elf(long file, const char *head) {
    const struct elf_header *header = (const struct elf_header *)head;
    struct segment segment;
    int is_linked = 0, is_go = 0;
    if (header->class == NARROW) return NARROW_PROGRAM;
    if (header->class != WIDE || header->machine != X86_64) return REACHED;
    if (gains(file)) return RIGHTS_GAINED;
    for (unsigned i = 0; i < header->segment_count && i < SEGMENTS_MAX; i++) {
        if (CALL(PREAD, file, &segment, sizeof segment, header->segments + i * sizeof segment) != sizeof segment) break;
        if (segment.type == INTERPRETER) is_linked = 1;
        if (segment.type == NOTE && is_of_go(file, &segment)) is_go = 1;
    }
    if (is_go) return GO_PROGRAM;
    return is_linked ? REACHED : STATIC_PROGRAM;
}

enum reach reach_of(int folder, const char *path) {
    char head[HEAD];
    if (!on_clock() || !path) return REACHED;
    if (CALL(ACCESS, run.library, READABLE)) return LIBRARY_HIDDEN;
    for (int i = 0; i <= INTERPRETERS_MAX; i++) {
        long file = CALL(OPENAT, folder, path, CLOSE_ON_EXEC | AT_ONCE);
        long length = file < 0 ? -1 : CALL(PREAD, file, head, sizeof head - 1, 0);
        if (length < 4) {
            /* The kernel says what is wrong, if anything is. */
            if (file >= 0) CALL(CLOSE, file);
            return REACHED;
        }
        head[length] = 0;
        int is_script = begins(head, "#!");
        enum reach reach = begins(head, "\177ELF") && length >= 64 ? reach_of_elf(file, head) : REACHED;
        CALL(CLOSE, file);
        if (!is_script) return reach;
        char *name = head + 2;
        while (*name == ' ' || *name == '\t') name++;
        char *end = name;
        while (*end && *end != ' ' && *end != '\t' && *end != '\n') end++;
        *end = 0;
        /* Over what was read: it is there until the file is read again, and is not looked at after that. */
        path = name;
    }
    return REACHED;
}
