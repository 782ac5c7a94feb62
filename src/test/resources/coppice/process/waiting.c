/* A process like a QEMU whose guest is stopped: maps a file privately, will not let it be inherited, may not fork, and waits for
 * commands in ppoll with other threads beside it, each named after what it waits for. waiting FILE
 *
 *   change SEED    writes to random pages and answers "changed"
 *   signals        answers how many SIGUSR1 came
 *   wake           ends what the other threads wait for, and answers how many registers are not what they were */
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_woken, channel[2];

static void *wait_for_condition(void *unused) {
    pthread_setname_np(pthread_self(), "condition");
    pthread_mutex_lock(&lock);
    while (!is_woken) pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *wait_for_lock(void *unused) {
    pthread_setname_np(pthread_self(), "lock");
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

/* The registers before and behind a system call, but for those that it changes itself. */
struct registers {
    long general[13];
    unsigned char vectors[16][16];
    unsigned mxcsr;
    unsigned short x87;
};

/* Loads them all, reads, and stores them: read_with(loaded, stored). Its arguments stay on the stack. */
void read_with(const struct registers *, struct registers *);
__asm__(
    "read_with:\n"
    " push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rsi\n"
    " ldmxcsr 360(%rdi); fldcw 364(%rdi)\n"
    " .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n movdqu 104+16*\\n(%rdi), %xmm\\n\n .endr\n"
    " mov 8(%rdi), %rbx; mov 16(%rdi), %rbp; mov 24(%rdi), %rsi; mov 32(%rdi), %rdx\n"
    " mov 40(%rdi), %r8; mov 48(%rdi), %r9; mov 56(%rdi), %r10; mov 64(%rdi), %r12\n"
    " mov 72(%rdi), %r13; mov 80(%rdi), %r14; mov 88(%rdi), %r15; mov 96(%rdi), %rax\n"
    " mov (%rdi), %rdi\n"
    " syscall\n"
    " pop %rcx\n"
    " mov %rdi, (%rcx); mov %rbx, 8(%rcx); mov %rbp, 16(%rcx); mov %rsi, 24(%rcx); mov %rdx, 32(%rcx)\n"
    " mov %r8, 40(%rcx); mov %r9, 48(%rcx); mov %r10, 56(%rcx); mov %r12, 64(%rcx)\n"
    " mov %r13, 72(%rcx); mov %r14, 80(%rcx); mov %r15, 88(%rcx); mov %rax, 96(%rcx)\n"
    " .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n movdqu %xmm\\n, 104+16*\\n(%rcx)\n .endr\n"
    " stmxcsr 360(%rcx); fnstcw 364(%rcx)\n"
    " pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    " ret\n");

static void *wait_for_byte(void *unused) {
    struct registers before, after;
    char byte;
    long changed = 0;
    (void)unused;
    pthread_setname_np(pthread_self(), "registers");
    for (int i = 0; i < 13; i++) before.general[i] = 0x0101010101010101 * (i + 1);
    before.general[0] = channel[0]; /* RDI */
    before.general[3] = (long)&byte; /* RSI */
    before.general[4] = 1; /* RDX */
    before.general[12] = SYS_read; /* RAX */
    for (int i = 0; i < 256; i++) before.vectors[i / 16][i % 16] = i ^ 0x5a;
    before.mxcsr = 0x7f80; /* all masked, to zero */
    before.x87 = 0x0e7f; /* all masked, 53 bits, to zero */
    read_with(&before, &after);
    before.general[12] = 1; /* what it has read */
    for (int i = 0; i < 13; i++) changed += before.general[i] != after.general[i];
    for (int i = 0; i < 16; i++) changed += memcmp(before.vectors[i], after.vectors[i], 16) != 0;
    return (void *)(changed + (before.mxcsr != after.mxcsr) + (before.x87 != after.x87));
}

static long wake(pthread_t *threads) {
    void *changed;
    pthread_mutex_lock(&lock);
    is_woken = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&held);
    if (write(channel[1], "", 1) != 1) return -1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], &changed);
    return (long)changed;
}

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
    pthread_t threads[3];
    if (memory == MAP_FAILED || madvise(memory, status.st_size, MADV_DONTFORK) || pipe(channel)) return 3;
    pthread_mutex_lock(&held);
    if (pthread_create(threads, 0, wait_for_condition, 0) || pthread_create(threads + 1, 0, wait_for_lock, 0)
        || pthread_create(threads + 2, 0, wait_for_byte, 0)) return 3;
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
        } else if (!strcmp(line, "wake\n")) {
            printf("%ld\n", wake(threads));
        } else {
            printf("%d\n", signals);
        }
    }
}
