/* Which conditions, timers and descriptors go by which clock, since nobody can be asked later.
 *
 * A table that is never locked: a program may be divided or interrupted at any instruction.
 */

#include "preload.h"

enum { SLOTS = 1 << 16, LOOKED_AT = 64, FREE = 0, LEFT = 1 };

static u64 slots[SLOTS];
static int is_lost;

static u64 key(u64 object, int kind) { return (object + 1) << 3 | (u64)kind; }

static u64 *first_slot(u64 key, unsigned at) { return &slots[((key * 0x9e3779b97f4a7c15UL >> 40) + at) % SLOTS]; }

int is_noted(u64 object, int kind) {
    u64 wanted = key(object, kind);
    for (unsigned i = 0; i < LOOKED_AT; i++) {
        u64 found = __atomic_load_n(first_slot(wanted, i), __ATOMIC_ACQUIRE);
        if (found == wanted || found == FREE) return found == wanted;
    }
    return 0;
}

void note(u64 object, int kind) {
    u64 wanted = key(object, kind);
    if (is_noted(object, kind)) return;
    for (unsigned i = 0; i < LOOKED_AT; i++) {
        u64 *slot = first_slot(wanted, i), found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (found <= LEFT && __atomic_compare_exchange_n(slot, &found, wanted, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
    __atomic_store_n(&is_lost, 1, __ATOMIC_RELAXED);
}

void forget(u64 object, int kind) {
    u64 wanted = key(object, kind);
    for (unsigned i = 0; i < LOOKED_AT; i++) {
        u64 *slot = first_slot(wanted, i), found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (found == FREE) return;
        if (found == wanted) __atomic_compare_exchange_n(slot, &found, LEFT, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
}

int has_lost_notes(void) { return __atomic_load_n(&is_lost, __ATOMIC_RELAXED); }
