# Builds the library of zstd, and a program that uses it; each object says when it was made.
OBJECTS := $(patsubst %.c,%.o,$(wildcard common/*.c compress/*.c decompress/*.c))
CFLAGS := -O0 -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0
pack: pack.o libzstd.a
	$(CC) -o $@ $^
libzstd.a: $(OBJECTS)
	rm -f $@
	$(AR) rcsD $@ $^
%.o: %.c $(wildcard *.h common/*.h)
	$(CC) $(CFLAGS) -c -o $@ $<
	date +%s >>shown
