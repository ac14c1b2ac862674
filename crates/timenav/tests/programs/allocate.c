/* Allocates memory with mimalloc, grows it, and checks that the contents are kept. */
#include <stdio.h>
#include <string.h>

#include "mimalloc.h"

int main(void) {
    for (size_t length = 1; length < 1 << 20; length *= 3) {
        unsigned char *block = mi_malloc(length);
        if (!block || !mi_is_in_heap_region(block)) return 1;
        memset(block, (int)(length % 251), length);
        block = mi_realloc(block, 2 * length);
        if (!block || mi_usable_size(block) < 2 * length) return 2;
        for (size_t i = 0; i < length; i++)
            if (block[i] != length % 251) return 3;
        mi_free(block);
    }
    puts("allocated and freed");
    return 0;
}
