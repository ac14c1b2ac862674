/* Tells the supervisor something, if it is there. Nobody waits for it: what does not fit in its queue is not told. */

#include "preload.h"

struct address { unsigned short family; char path[108]; };
struct piece { const void *at; u64 size; };
struct control { u64 size; int level, kind, descriptor, pad; };
struct message {
    struct address *to;
    unsigned to_size, pad;
    struct piece *pieces;
    u64 count;
    struct control *control;
    u64 control_size;
    int flags;
};
enum { LOCAL = 1, DATAGRAMS = 2, CLOSE_ON_EXEC = 02000000, AT_ONCE = 0x40, NO_SIGNAL = 0x4000 };
enum { SOCKETS = 1, RIGHTS = 1 };

static void send(struct piece *pieces, u64 count, int descriptor) {
    struct address to = {LOCAL, ""};
    struct control control = {sizeof control - sizeof(int), SOCKETS, RIGHTS, descriptor, 0};
    struct message message = {&to, sizeof to, 0, pieces, count, 0, 0, 0};
    if (length_of(run.socket) >= sizeof to.path) return;
    copy(to.path, run.socket);
    if (descriptor >= 0) {
        message.control = &control;
        message.control_size = sizeof control;
    }
    long socket = CALL(SOCKET, LOCAL, DATAGRAMS | CLOSE_ON_EXEC, 0);
    if (socket < 0) return;
    CALL(SENDMSG, socket, &message, AT_ONCE | NO_SIGNAL);
    CALL(CLOSE, socket);
}

void tell_of_timer(int descriptor, const struct timer_told *timer) {
    struct piece piece = {timer, sizeof *timer};
    send(&piece, 1, descriptor);
}

void tell_of_program(enum reach reach, const char *path) {
    u64 head[2] = {OF_PROGRAM, reach};
    struct piece pieces[2] = {{head, sizeof head}, {path, length_of(path)}};
    send(pieces, 2, -1);
}
