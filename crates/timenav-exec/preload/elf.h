/* What is read of ELF files: those in memory, and those that are to be executed. */

struct elf_header {
    unsigned char magic[4], class, rest[11];
    unsigned short type, machine;
    unsigned version;
    u64 entry, segments, sections;
    unsigned flags;
    unsigned short size, segment_size, segment_count, section_size, section_count, names;
};
struct segment { unsigned type, flags; u64 offset, address, physical, file_size, memory_size, alignment; };
enum { LOADED = 1, DYNAMIC = 2, INTERPRETER = 3, NOTE = 4 };

/* Finds a function of an image that begins at an address, such as the vDSO. */
void *function_of_image(u64 at, const char *name);
