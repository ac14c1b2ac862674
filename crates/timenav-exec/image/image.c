/* A vDSO whose realtime is computed from a clock page. Everything else goes to the kernel's own functions.
 *
 * Three mappings lie beside each other, at an address that the kernel chose: the originals (private to the process),
 * the clock page (shared, written by the supervisor), and this code. Nothing here is relocated and nothing is written,
 * so the code is the same in every process.
 */

#include "page.h"

extern const volatile struct page CLOCK __attribute__((visibility("hidden")));
extern const volatile struct originals ORIGINALS __attribute__((visibility("hidden")));

#include "clock.h"

int __vdso_clock_gettime(int id, struct timespec *shown) {
    return tell(id, shown) ? 0 : (int)ORIGINALS.clock_gettime(id, shown);
}

int __vdso_gettimeofday(struct timeval *shown, void *zone) {
    if (zone) ORIGINALS.gettimeofday(0, zone);
    if (shown) {
        struct timespec now;
        show(&now, 0);
        shown->sec = now.sec;
        shown->usec = (unsigned)now.nsec / 1000;
    }
    return 0;
}

long __vdso_time(long *shown) {
    struct timespec now;
    show(&now, 0);
    if (shown) *shown = now.sec;
    return now.sec;
}

int __vdso_clock_getres(int id, struct timespec *resolution) {
    return (int)ORIGINALS.clock_getres(id, resolution);
}

long __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused) {
    return ORIGINALS.getcpu(cpu, node, unused);
}

long __vdso_getrandom(void *buffer, u64 length, unsigned flags, void *state, u64 state_length) {
    return ORIGINALS.getrandom(buffer, length, flags, state, state_length);
}

#define WEAK(name) __attribute__((weak, alias("__vdso_" #name)))
int WEAK(clock_gettime) clock_gettime(int, struct timespec *);
int WEAK(gettimeofday) gettimeofday(struct timeval *, void *);
long WEAK(time) time(long *);
int WEAK(clock_getres) clock_getres(int, struct timespec *);
long WEAK(getcpu) getcpu(unsigned *, unsigned *, void *);
long WEAK(getrandom) getrandom(void *, u64, unsigned, void *, u64);

/* Makes a system call that waits. The supervisor finds threads that wait by where they go on (src/supervisor/waits.rs).
 */
__attribute__((visibility("hidden"))) long make(u64 number, const u64 *parameters);
__asm__(
    ".text\n"
    ".type make, @function\n"
    "make:\n"
    ".cfi_startproc\n"
    "mov %rdi, %rax\n"
    "mov (%rsi), %rdi\n"
    "mov 16(%rsi), %rdx\n"
    "mov 24(%rsi), %r10\n"
    "mov 32(%rsi), %r8\n"
    "mov 40(%rsi), %r9\n"
    "mov 8(%rsi), %rsi\n"
    "syscall\n"
    ".globl timenav_waiting\n"
    ".type timenav_waiting, @function\n"
    "timenav_waiting:\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size make, . - make\n");

/* Waits and sleeps on the clock of the page, for calls that the kernel would make by the host's clocks.
 *
 * The supervisor has interrupted a thread that was about to make such a call (src/supervisor/waits.rs), and sent it to
 * `timenav_wait`, with the registers of the call, the place to return to in rcx, and the number of the call in rax.
 * To the program it is the call: all registers but those that a call changes are as they were, and so is the stack. The
 * unwinder sees the caller of the call, since a thread may be cancelled here.
 */

#include "waits.h"
#include "sleeps.h"

__asm__(
    ".text\n"
    ".globl timenav_wait\n"
    ".type timenav_wait, @function\n"
    "timenav_wait:\n"
    ".cfi_startproc\n"
    ".cfi_signal_frame\n"
    ".cfi_def_cfa %rsp, 0\n"
    ".cfi_register %rip, %rcx\n"
    "endbr64\n"
    /* What is below the stack pointer may be in use. */
    "lea -128(%rsp), %rsp\n"
    ".cfi_adjust_cfa_offset 128\n"
    "push %rcx\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_rel_offset %rip, 0\n"
    "pushfq\n"
    ".cfi_adjust_cfa_offset 8\n"
    "push %rbp\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_rel_offset %rbp, 0\n"
    "push %rax\n"
    "push %r9\n"
    "push %r8\n"
    "push %r10\n"
    "push %rdx\n"
    "push %rsi\n"
    "push %rdi\n"
    ".cfi_adjust_cfa_offset 56\n"
    "mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "mov %rsp, %rdi\n"
    "and $-16, %rsp\n"
    "cld\n"
    "call wait_as_asked\n"
    "mov %rbp, %rsp\n"
    ".cfi_def_cfa_register %rsp\n"
    "pop %rdi\n"
    "pop %rsi\n"
    "pop %rdx\n"
    "pop %r10\n"
    "pop %r8\n"
    "pop %r9\n"
    "lea 8(%rsp), %rsp\n"
    ".cfi_adjust_cfa_offset -56\n"
    "pop %rbp\n"
    ".cfi_adjust_cfa_offset -8\n"
    ".cfi_restore %rbp\n"
    "popfq\n"
    ".cfi_adjust_cfa_offset -8\n"
    "pop %rcx\n"
    ".cfi_adjust_cfa_offset -8\n"
    ".cfi_register %rip, %rcx\n"
    "lea 128(%rsp), %rsp\n"
    ".cfi_adjust_cfa_offset -128\n"
    "jmp *%rcx\n"
    ".cfi_endproc\n"
    ".size timenav_wait, . - timenav_wait\n");
