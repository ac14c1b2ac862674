/* Finds functions of libraries that are in memory.
 *
 * `dlsym` would do, but it is not in every C library that a program may have, and of a function that has several
 * versions the GNU C library gives the oldest one to somebody who asks for the next. Here it is the one that programs
 * are linked with today.
 */

#include "preload.h"
#include "elf.h"

struct entry { i64 tag; u64 value; };
struct symbol { unsigned name; unsigned char info, other; unsigned short section; u64 value, size; };
struct object { u64 address; const char *name; const struct segment *segments; unsigned short count; };
enum { HASH = 4, STRINGS = 5, SYMBOLS = 6, GNU_HASH = 0x6ffffef5, VERSIONS = 0x6ffffff0 };
enum { HIDDEN_VERSION = 0x8000, INDIRECT = 10 };

extern int dl_iterate_phdr(int (*)(struct object *, u64, void *), void *) WEAK;

struct tables {
    const char *strings;
    const struct symbol *symbols;
    const unsigned *hash, *gnu_hash;
    const unsigned short *versions;
};

static int is_same(const char *one, const char *other) {
    while (*one && *one == *other) { one++; other++; }
    return *one == *other;
}

static void *taken(const struct tables *tables, u64 base, unsigned index, const char *name) {
    const struct symbol *symbol = &tables->symbols[index];
    if (!symbol->section || !is_same(tables->strings + symbol->name, name)) return 0;
    if (tables->versions && tables->versions[index] & HIDDEN_VERSION) return 0;
    u64 at = base + symbol->value;
    return (symbol->info & 15) == INDIRECT ? ((void *(*)(void))at)() : (void *)at;
}

static void *by_gnu_hash(const struct tables *tables, u64 base, const char *name) {
    const unsigned *table = tables->gnu_hash;
    unsigned hash = 5381, buckets = table[0], first = table[1], words = table[2];
    for (const char *at = name; *at; at++) hash = hash * 33 + (unsigned char)*at;
    const unsigned *bucket = (const unsigned *)((const u64 *)(table + 4) + words), *chain = bucket + buckets;
    unsigned index = buckets ? bucket[hash % buckets] : 0;
    if (index < first) return 0;
    for (;; index++) {
        unsigned found = chain[index - first];
        void *function = (found | 1) == (hash | 1) ? taken(tables, base, index, name) : 0;
        if (function || found & 1) return function;
    }
}

static void *by_hash(const struct tables *tables, u64 base, const char *name) {
    for (unsigned index = 1; index < tables->hash[1]; index++) {
        void *function = taken(tables, base, index, name);
        if (function) return function;
    }
    return 0;
}

static void *function_of(u64 base, const struct segment *segments, unsigned count, const char *name) {
    struct tables tables = {0, 0, 0, 0, 0};
    for (unsigned i = 0; i < count; i++) {
        if (segments[i].type != DYNAMIC) continue;
        for (const struct entry *entry = (const struct entry *)(base + segments[i].address); entry->tag; entry++) {
            /* Some loaders write addresses here, others leave what the file has. */
            u64 at = entry->value < base ? base + entry->value : entry->value;
            switch (entry->tag) {
            case STRINGS: tables.strings = (const char *)at; break;
            case SYMBOLS: tables.symbols = (const struct symbol *)at; break;
            case HASH: tables.hash = (const unsigned *)at; break;
            case GNU_HASH: tables.gnu_hash = (const unsigned *)at; break;
            case VERSIONS: tables.versions = (const unsigned short *)at; break;
            default: break;
            }
        }
    }
    if (!tables.strings || !tables.symbols) return 0;
    if (tables.gnu_hash) return by_gnu_hash(&tables, base, name);
    return tables.hash ? by_hash(&tables, base, name) : 0;
}

void *function_of_image(u64 at, const char *name) {
    const struct elf_header *header = (const struct elf_header *)at;
    const struct segment *segments = (const struct segment *)(at + header->segments);
    for (unsigned i = 0; i < header->segment_count; i++)
        if (segments[i].type == LOADED)
            return function_of(at - segments[i].address + segments[i].offset, segments, header->segment_count, name);
    return 0;
}

struct search { const char *name; void *found; int is_after; };

static int has_this(const struct object *object) {
    for (unsigned i = 0; i < object->count; i++) {
        const struct segment *segment = &object->segments[i];
        u64 at = (u64)&function_of_image - object->address - segment->address;
        if (segment->type == LOADED && at < segment->memory_size) return 1;
    }
    return 0;
}

static int look(struct object *object, u64 size, void *of) {
    struct search *search = of;
    (void)size;
    if (search->is_after)
        search->found = function_of(object->address, object->segments, object->count, search->name);
    else
        search->is_after = has_this(object);
    return search->found != 0;
}

void *next_function(const char *name) {
    struct search search = {name, 0, 0};
    if (dl_iterate_phdr) dl_iterate_phdr(look, &search);
    return search.found;
}
