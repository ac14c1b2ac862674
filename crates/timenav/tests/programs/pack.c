/* Packs and unpacks some text with zstd, and says whether it is the same. */
#include <stdio.h>
#include <string.h>

#include "zstd.h"

int main(void) {
    static char text[1 << 16], packed[1 << 17], unpacked[1 << 16];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)("timenav"[i * i % 7] + i / 512 % 16);
    size_t length = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    if (ZSTD_isError(length) || length >= sizeof text / 2) return 1;
    if (ZSTD_decompress(unpacked, sizeof unpacked, packed, length) != sizeof text) return 2;
    if (memcmp(text, unpacked, sizeof text)) return 3;
    puts("packed and unpacked");
    return 0;
}
