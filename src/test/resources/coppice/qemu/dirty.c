/* Changes random pages of private file mappings, says where they are, and stops.
 * dirty SEED FILE OFFSET LENGTH PAGE... [FILE OFFSET LENGTH PAGE...]... : each PAGE, up to one that is -1, is changed for sure. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static long own(const char *dirty, long pages) {
    long n = 0;
    for (long i = 0; i < pages; i++) n += dirty[i];
    return n;
}

static void write_page(char *memory, char *dirty, long page) {
    long from = lrand48() % PAGE, length = 1 + lrand48() % (PAGE - from);
    for (long i = from; i < from + length; i++) memory[page * PAGE + i] = lrand48() >> 8;
    dirty[page] = 1;
}

static void disturb(char *memory, char *dirty, long pages) {
    volatile char sink;
    for (long i = 0; i < pages / 8; i++) sink = memory[lrand48() % pages * PAGE];  /* present, but the file's */
    for (long i = 0; i < 200; i++) write_page(memory, dirty, lrand48() % pages);
    long run = lrand48() % (pages / 2);
    for (long i = 0; i < 600 && run + i < pages; i++) write_page(memory, dirty, run + i);
    for (long i = 0; i < 300; i++) madvise(memory + lrand48() % pages * PAGE, PAGE, MADV_DONTFORK);  /* splits */
    for (long i = 0; i < 100; i++) {  /* given back: the file's again */
        long page = lrand48() % pages;
        if (madvise(memory + page * PAGE, PAGE, MADV_DONTNEED)) exit(3);
        dirty[page] = 0;
    }
    for (long i = 0; i < 50; i++) write_page(memory, dirty, lrand48() % pages);
    (void)sink;
}

int main(int argc, char **argv) {
    srand48(atol(argv[1]));
    for (int a = 2; a + 2 < argc;) {
        long offset = atol(argv[a + 1]), length = atol(argv[a + 2]), pages = length / PAGE;
        int file = open(argv[a], O_RDONLY);
        char *memory = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, offset), *dirty = calloc(pages, 1);
        if (file < 0 || memory == MAP_FAILED || !dirty) return 2;
        disturb(memory, dirty, pages);
        for (a += 3; a < argc && atol(argv[a]) >= 0; a++) write_page(memory, dirty, atol(argv[a]));
        a++;
        printf("%ld %ld %ld\n", (long)memory, length, own(dirty, pages));
    }
    puts("ready");
    fflush(stdout);
    raise(SIGSTOP);
    return 0;
}
