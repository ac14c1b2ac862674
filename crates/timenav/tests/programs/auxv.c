/* Asks for the time by the vDSO that the kernel names: in `/proc/self/auxv`, by `prctl`, and on the stack. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif

typedef int clock_function(clockid_t, struct timespec *);

/* Returns a function of a vDSO, as programs find it that do without a C library: in its table of dynamic symbols. */
static clock_function *function(unsigned long vdso, const char *name) {
    Elf64_Ehdr *head = (Elf64_Ehdr *)vdso;
    Elf64_Phdr *part = (Elf64_Phdr *)(vdso + head->e_phoff);
    Elf64_Dyn *dynamic = 0;
    unsigned long shift = 0;
    for (int i = 0; i < head->e_phnum; i++) {
        if (part[i].p_type == PT_LOAD) shift = vdso + part[i].p_offset - part[i].p_vaddr;
        if (part[i].p_type == PT_DYNAMIC) dynamic = (Elf64_Dyn *)(vdso + part[i].p_offset);
    }
    const char *strings = 0;
    Elf64_Sym *symbols = 0;
    for (; dynamic && dynamic->d_tag; dynamic++) {
        if (dynamic->d_tag == DT_STRTAB) strings = (const char *)(shift + dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_SYMTAB) symbols = (Elf64_Sym *)(shift + dynamic->d_un.d_ptr);
    }
    /* The strings come after the symbols, with which this ends. */
    for (Elf64_Sym *symbol = symbols; symbols && (const char *)symbol < strings; symbol++)
        if (!strcmp(strings + symbol->st_name, name)) return (clock_function *)(shift + symbol->st_value);
    return 0;
}

static void look(const char *what, unsigned long vdso) {
    struct timespec t = {0};
    clock_function *asked = vdso ? function(vdso, "__vdso_clock_gettime") : 0;
    if (!asked || asked(CLOCK_REALTIME, &t)) printf("%s: no clock\n", what);
    else printf("%s: %ld\n", what, (long)t.tv_sec);
}

static unsigned long vdso_of(Elf64_auxv_t *vector, long length) {
    for (; length >= (long)sizeof *vector; vector++, length -= sizeof *vector)
        if (vector->a_type == AT_SYSINFO_EHDR) return vector->a_un.a_val;
    return 0;
}

int main(void) {
    static Elf64_auxv_t vector[128];
    int file = open("/proc/self/auxv", O_RDONLY);
    look("proc", vdso_of(vector, read(file, vector, sizeof vector)));
    memset(vector, 0, sizeof vector);
    long length = prctl(PR_GET_AUXV, vector, sizeof vector, 0, 0);
    /* Kernels before 6.4 do not have it. */
    if (length > 0) look("prctl", vdso_of(vector, length < (long)sizeof vector ? length : (long)sizeof vector));
    look("stack", getauxval(AT_SYSINFO_EHDR));
    return 0;
}
