/* The Coppice guest agent: one thread, one event loop. Owns the command line, the start and the loop.
 *
 * The protocol is docs/agent-protocol.md. Start reading at `main` below, then port.c, connection.c, command.c. */
#include "agent.h"
#include "command.h"
#include "event.h"
#include "launch.h"
#include "port.h"
#include "power.h"
#include "pty.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct settings settings = {.root = ""};

void note(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    dprintf(STDERR_FILENO, "coppice-agent: %s\n", line);
}

const char *rooted(const char *path) {
    static char buffers[4][512];
    static unsigned next;
    char *buffer = buffers[next++ % 4];
    snprintf(buffer, sizeof buffers[0], "%s%s", settings.root, path);
    return buffer;
}

uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Descriptors 0 to 2 of a command are made with dup2, which must not hit one of ours. */
static void occupy_standard_descriptors(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Under memory pressure the kernel shall end the guest's commands, not the one that reports on them. */
static void avoid_oom_kill(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd == -1)
        return;
    if (write(fd, "-1000", 5) == -1)
        note("cannot lower the OOM score: %s", strerror(errno));
    close(fd);
}

static int shorter(int a, int b) {
    return a == -1 ? b : b == -1 || a < b ? a : b;
}

static _Noreturn void run(void) {
    for (;;) {
        int timeout = port_serve();
        timeout = shorter(timeout, commands_tick());
        timeout = shorter(timeout, transfers_tick());
        timeout = shorter(timeout, terminals_tick());
        timeout = shorter(timeout, power_tick(port_is_flushed()));
        events_wait(timeout);
    }
}

static _Noreturn void usage(int status) {
    dprintf(status == 0 ? STDOUT_FILENO : STDERR_FILENO,
            "usage: coppice-agent [--port DEVICE | --fd NUMBER] [--root DIRECTORY] [--dry] [--version]\n"
            "  --port DEVICE     the port, instead of looking for coppice.agent.0\n"
            "  --fd NUMBER       the port as an open descriptor\n"
            "  --root DIRECTORY  where /etc, /run and /sys are, for tests\n"
            "  --dry             only log changes of clock, hostname, entropy and power, for tests\n");
    exit(status);
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"port", required_argument, NULL, 'p'}, {"fd", required_argument, NULL, 'f'},
                                            {"root", required_argument, NULL, 'r'}, {"dry", no_argument, NULL, 'd'},
                                            {"version", no_argument, NULL, 'v'},    {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *port = NULL;
    int port_fd = -1;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p':
            port = optarg;
            break;
        case 'f':
            port_fd = atoi(optarg);
            break;
        case 'r':
            settings.root = optarg;
            break;
        case 'd':
            settings.dry = true;
            break;
        case 'v':
            puts("coppice-agent " AGENT_VERSION);
            return 0;
        case 'h':
            usage(0);
        default:
            usage(2);
        }
    }
    if (optind != argc)
        usage(2);
    occupy_standard_descriptors();
    avoid_oom_kill();
    signal(SIGPIPE, SIG_IGN); /* a command that closes its input is no fault of ours */
    signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would let the kernel drop how a command ended */
    launch_prepare();
    events_open();
    commands_open();
    port_open(port, port_fd);
    run();
}
