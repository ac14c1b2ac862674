# Builds mimalloc, and a program that uses it; each object writes the time at which it was compiled.
# Files that others include are not compiled alone. options.c has the date, which would differ in each build.
INCLUDED := $(patsubst %,src/%.c,alloc-override free page-queue arena-abandon static)
OBJECTS := $(patsubst %.c,%.o,$(filter-out $(INCLUDED),$(wildcard src/*.c src/prim/*.c)))
CFLAGS := -O2 -Iinclude -Wno-builtin-macro-redefined -D__DATE__='""' -D__TIME__='""'
allocate: allocate.o libmimalloc.a
	$(CC) -o $@ $^ -pthread
libmimalloc.a: $(OBJECTS)
	rm -f $@
	$(AR) rcsD $@ $^
%.o: %.c $(wildcard include/*.h include/mimalloc/*.h)
	$(CC) $(CFLAGS) -c -o $@ $<
	date +%s >>shown
