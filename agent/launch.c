/* Owns the way from fork() to exec(): user, groups, environment, directory, descriptors, limits, signals. */
#include "launch.h"

#include "agent.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ARGUMENT_LIMIT (128 * 1024) /* the kernel's MAX_ARG_STRLEN, terminator included */
#define SCRIPT_FD 3
#define ERROR_FD 4
#define SCRIPT_COMMAND ". /proc/self/fd/3" /* not `sh FILE`: $0 stays the same */

static struct rlimit inherited_files;

void launch_prepare(void) {
    getrlimit(RLIMIT_NOFILE, &inherited_files);
    struct rlimit raised = {65536, 65536}; /* 4096 commands have four or five descriptors each */
    if (setrlimit(RLIMIT_NOFILE, &raised) == -1) {
        raised.rlim_cur = raised.rlim_max = inherited_files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &raised);
    }
}

/* Ends a child that could not become the command. The whole fault is shorter than PIPE_BUF, so it neither blocks nor
   arrives in part, and its code points into the program, which is the same in the agent. */
static _Noreturn void give_up(int fd, const struct fault *fault) {
    ssize_t written = write(fd, fault, sizeof *fault);
    (void)written;
    _exit(127);
}

static _Noreturn void fail(int fd, const char *step, const char *subject) {
    struct fault fault = {.code = NULL};
    fault_set(&fault, "FAILED", "cannot %s%s%.100s: %s", step, *subject ? " " : "", subject, strerror(errno));
    give_up(fd, &fault);
}

/* The defaults that the request does not replace, then the request's own entries. NULL: out of memory. */
static char **make_environment(const struct fields *request, const struct passwd *user, bool on_terminal) {
    static char home[4096 + 8], name[256 + 8], login[256 + 8], shell[4096 + 8];
    snprintf(home, sizeof home, "HOME=%s", user->pw_dir);
    snprintf(name, sizeof name, "USER=%s", user->pw_name);
    snprintf(login, sizeof login, "LOGNAME=%s", user->pw_name);
    snprintf(shell, sizeof shell, "SHELL=%s", user->pw_shell[0] ? user->pw_shell : "/bin/sh");
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LANG=C.UTF-8",
                term[] = "TERM=xterm-256color";
    char *const defaults[] = {path, home, name, login, shell, lang, term};
    size_t default_count = sizeof defaults / sizeof *defaults - (on_terminal ? 0 : 1);

    const struct texts *given = &request->texts[TAG_ENVIRONMENT];
    char **environment = malloc((default_count + given->count + 1) * sizeof *environment);
    if (environment == NULL)
        return NULL;
    size_t count = 0;
    for (size_t i = 0; i < default_count; i++) {
        size_t prefix = (size_t)(strchr(defaults[i], '=') - defaults[i]) + 1;
        bool replaced = false;
        for (size_t j = 0; j < given->count && !replaced; j++)
            replaced = strncmp(given->items[j], defaults[i], prefix) == 0;
        if (!replaced)
            environment[count++] = defaults[i];
    }
    for (size_t i = 0; i < given->count; i++)
        environment[count++] = given->items[i];
    environment[count] = NULL;
    return environment;
}

/* A file without a name that holds a command too long for an argument; -1 with errno. */
static int make_script(const char *command, size_t length) {
    int fd = memfd_create("command", MFD_CLOEXEC);
    if (fd == -1)
        return -1;
    for (size_t at = 0; at < length;) {
        ssize_t written = write(fd, command + at, length - at);
        if (written == -1) {
            int error = errno;
            close(fd);
            errno = error;
            return -1;
        }
        at += (size_t)written;
    }
    fchmod(fd, 0444); /* the shell opens it anew, as the user */
    return fd;
}

static void reset_signals(void) {
    /* The kernel's own struct, all zero: default action. By the system call, because the library refuses the signals
       32 to 34 that it uses itself, which may well have been inherited as ignored. */
    static const unsigned long action[4];
    for (int i = 1; i < NSIG; i++)
        syscall(SYS_rt_sigaction, i, action, NULL, NSIG / 8);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void reset_oom_score(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd == -1)
        return;
    ssize_t written = write(fd, "0", 1);
    (void)written; /* refused where the agent could not lower its own: then there is nothing to reset */
    close(fd);
}

/* Puts stdin, stdout, stderr, the script and the error pipe on their descriptors, closes all others, and returns the
   error pipe's. */
static int place_descriptors(const int pipes[4], int script) {
    for (int i = 0; i < 3; i++) {
        if (dup2(pipes[i], i) == -1)
            fail(pipes[3], "place the command's pipes", "");
        close(pipes[i]); /* what comes next needs a free descriptor, even if there was no other left */
    }
    /* Out of the way first: each may be where the other shall go. */
    int error = fcntl(pipes[3], F_DUPFD_CLOEXEC, ERROR_FD + 1);
    if (error == -1)
        fail(pipes[3], "place the error pipe", "");
    if (script == -1) {
        close(SCRIPT_FD);
    } else {
        script = fcntl(script, F_DUPFD_CLOEXEC, ERROR_FD + 1);
        if (script == -1 || dup2(script, SCRIPT_FD) == -1)
            fail(error, "place the command's script", "");
    }
    dup3(error, ERROR_FD, O_CLOEXEC);
    syscall(SYS_close_range, ERROR_FD + 1, ~0u, 0);
    return ERROR_FD;
}

/* As a new terminal is, whatever the program before has left: cooked, echoing, UTF-8. */
static void make_sane(int terminal) {
    struct termios sane = {.c_iflag = ICRNL | IXON | IUTF8,
                           .c_oflag = OPOST | ONLCR,
                           .c_cflag = CS8 | CREAD | B38400,
                           .c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE};
    static const cc_t keys[][2] = {{VINTR, 3},   {VQUIT, 28},    {VERASE, 127}, {VKILL, 21},   {VEOF, 4},    {VMIN, 1},
                                   {VSTART, 17}, {VSTOP, 19},    {VSUSP, 26},   {VREPRINT, 18}, {VDISCARD, 15},
                                   {VWERASE, 23}, {VLNEXT, 22}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        sane.c_cc[keys[i][0]] = keys[i][1];
    cfsetispeed(&sane, B38400);
    cfsetospeed(&sane, B38400);
    tcsetattr(terminal, TCSANOW, &sane);
}

/* The terminal on stdin becomes the session's, and the user's: programs open it anew by its name. */
static void take_terminal(const struct passwd *user, int error) {
    if (ioctl(STDIN_FILENO, TIOCSCTTY, 1) == -1)
        fail(error, "take the terminal", "");
    make_sane(STDIN_FILENO);
    const struct group *group = getgrnam("tty");
    if (fchown(STDIN_FILENO, user->pw_uid, group != NULL ? group->gr_gid : user->pw_gid) == 0)
        fchmod(STDIN_FILENO, group != NULL ? 0620 : 0600);
}

static _Noreturn void execute(const struct fields *request, int script, const struct passwd *user, char **environment, int error) {
    char *command = script == -1 ? request->text[TAG_COMMAND] : (char[]){SCRIPT_COMMAND};
    if (command != NULL) {
        execve("/bin/sh", (char *[]){"sh", "-c", command, NULL}, environment);
        fail(error, "execute", "/bin/sh");
    }
    const char *shell = user->pw_shell[0] ? user->pw_shell : "/bin/sh";
    const char *slash = strrchr(shell, '/');
    char name[256];
    snprintf(name, sizeof name, "-%s", slash != NULL ? slash + 1 : shell); /* that is what makes it a login shell */
    execve(shell, (char *[]){name, NULL}, environment);
    fail(error, "execute", shell);
}

static _Noreturn void child(const struct fields *request, int script, const int pipes[4], bool on_terminal) {
    if (setsid() == -1)
        fail(pipes[3], "make a session", "");
    int error = place_descriptors(pipes, script);
    reset_oom_score();
    reset_signals();
    setrlimit(RLIMIT_NOFILE, &inherited_files);
    umask(022);
    struct fault fault;
    const struct passwd *user = user_find(request->text[TAG_USER], &fault);
    if (user == NULL)
        give_up(error, &fault);
    char **environment = make_environment(request, user, on_terminal);
    if (environment == NULL)
        fail(error, "make the environment", "");
    if (on_terminal)
        take_terminal(user, error);
    if (!user_become(user, &fault))
        give_up(error, &fault);
    const char *directory = request->text[TAG_DIRECTORY];
    if (directory != NULL) {
        if (chdir(directory) == -1)
            fail(error, "enter", directory);
    } else if (chdir(user->pw_dir) == -1 && chdir("/") == -1) {
        fail(error, "enter", "/");
    }
    execute(request, script, user, environment, error);
}

static pid_t start(const struct fields *request, const int pipes[4], bool on_terminal, struct fault *fault) {
    pid_t pid = -1;
    int script = -1;
    bool is_long = request->text_length[TAG_COMMAND] >= ARGUMENT_LIMIT;
    if (is_long)
        script = make_script(request->text[TAG_COMMAND], request->text_length[TAG_COMMAND]);
    if (is_long && script == -1) {
        fault_set(fault, "FAILED", "cannot store the command: %s", strerror(errno));
    } else {
        pid = fork();
        if (pid == 0)
            child(request, script, pipes, on_terminal);
        if (pid == -1)
            fault_set(fault, "FAILED", "cannot fork: %s", strerror(errno));
    }
    if (script != -1)
        close(script);
    return pid;
}

pid_t launch(const struct fields *request, const int pipes[4], struct fault *fault) {
    return start(request, pipes, false, fault);
}

pid_t launch_terminal(const struct fields *request, int terminal, int error, struct fault *fault) {
    /* Three of them, because each is closed as soon as it is in its place. */
    int second = fcntl(terminal, F_DUPFD_CLOEXEC, 3), third = fcntl(terminal, F_DUPFD_CLOEXEC, 3);
    pid_t pid = -1;
    if (second == -1 || third == -1)
        fault_set(fault, "FAILED", "cannot make the terminal's descriptors: %s", strerror(errno));
    else
        pid = start(request, (int[4]){terminal, second, third, error}, true, fault);
    if (second != -1)
        close(second);
    if (third != -1)
        close(third);
    return pid;
}

void keep_descriptors(int *kept, unsigned count) {
    for (unsigned i = 0; i < count; i++) /* out of the way first: each may be where another shall go */
        kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, 3 + (int)count);
    for (unsigned i = 0; i < count; i++)
        kept[i] = dup3(kept[i], 3 + (int)i, O_CLOEXEC);
    syscall(SYS_close_range, 3 + count, ~0u, 0);
}

bool run_program(char *const argv[], int limit_ms) {
    pid_t pid = fork();
    if (pid == -1)
        return false;
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        setsid();
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        syscall(SYS_close_range, 3, ~0u, 0);
        reset_oom_score();
        reset_signals();
        setrlimit(RLIMIT_NOFILE, &inherited_files);
        char *environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL};
        execve(argv[0], argv, environment);
        _exit(127);
    }
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int ready = -1;
    if (process.fd != -1) {
        uint64_t deadline = now_ms() + (uint64_t)limit_ms;
        do {
            uint64_t now = now_ms();
            ready = poll(&process, 1, now < deadline ? (int)(deadline - now) : 0);
        } while (ready == -1 && errno == EINTR);
        close(process.fd);
    }
    if (ready != 1) {
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL); /* it may not have reached setsid() */
    }
    int status = -1;
    while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
        ;
    return ready == 1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
