/* A process like a QEMU whose guest is stopped: maps a file privately, will not let it be inherited, may not fork, and waits for
 * commands in ppoll with other threads beside it. waiting FILE
 *
 *   change SEED    writes to random pages and answers "changed"
 *   signals        answers how many SIGUSR1 came */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int number) { (void)number; signals++; }

static void *wait_forever(void *unused) { for (;;) pause(); return unused; }

/* As QEMU's -sandbox spawn=deny does: clone only for threads, and no clone3. */
static int deny_fork(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv) {
    struct stat status;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &status)) return 2;
    long pages = status.st_size >> 12;
    char *memory = mmap(0, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0), line[100];
    pthread_t thread;
    if (memory == MAP_FAILED || madvise(memory, status.st_size, MADV_DONTFORK) || pthread_create(&thread, 0, wait_forever, 0)) return 3;
    signal(SIGUSR1, count);
    if (deny_fork()) return 4;
    puts("ready");
    for (;;) {
        fflush(stdout);
        struct pollfd input = {.fd = 0, .events = POLLIN};
        if (ppoll(&input, 1, NULL, NULL) <= 0 || !(input.revents & POLLIN)) continue;
        if (!fgets(line, sizeof line, stdin)) return 0;
        if (!strncmp(line, "change ", 7)) {
            srand48(atol(line + 7));
            for (long i = 0; i < pages / 4; i++) memory[(lrand48() % pages << 12) + lrand48() % 4096] = lrand48() >> 8;
            puts("changed");
        } else {
            printf("%d\n", signals);
        }
    }
}
