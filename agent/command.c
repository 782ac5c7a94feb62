/* Owns running commands and the results of ended ones.
 *
 * A command goes from running to ended when its first process has been waited for; nothing else ends it, least of
 * all a stream. Output beyond its limit, or for which all commands together have no room, is read and counted, so that a
 * command is never blocked by it. */
#include "command.h"

#include "agent.h"
#include "launch.h"
#include "pty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_LIMIT 4096
#define KEPT_LIMIT (64u << 20) /* bytes of output of ended commands */
#define KEPT_SHARE 8           /* of a small guest's memory no more than this part */
#define ROOM_SHARE 4           /* of the guest's memory no more than this part for all output, that of running commands included */
#define ROOM_FOR_EACH (16 * 1024) /* whatever others have said */
#define KEPT_MS (10 * 60 * 1000)
#define DEFAULT_OUTPUT_LIMIT (1u << 20)

static struct link running, ended;
static unsigned running_count, ended_count;
static size_t kept_bytes; /* of ended commands */
static size_t room_bytes; /* allocated, of all */
static uint8_t scratch[64 * 1024];

void commands_open(void) {
    list_init(&running);
    list_init(&ended);
}

static struct command *find_in(struct link *list, const uint8_t *id) {
    for (struct link *at = list->next; at != list; at = at->next) {
        struct command *command = CONTAINER(at, struct command, link);
        if (memcmp(command->id, id, ID_LENGTH) == 0)
            return command;
    }
    return NULL;
}

struct command *command_find(const uint8_t *id) {
    struct command *command = find_in(&running, id);
    return command != NULL ? command : find_in(&ended, id);
}

/* Output */

static uint64_t share_of_memory(unsigned part) {
    struct sysinfo guest;
    return sysinfo(&guest) == -1 ? UINT64_MAX : (uint64_t)guest.totalram * guest.mem_unit / part;
}

static bool allocate(struct output *output, size_t capacity) {
    uint8_t *bytes = realloc(output->bytes, capacity);
    if (bytes == NULL)
        return false;
    room_bytes = room_bytes - output->capacity + capacity;
    output->bytes = bytes;
    output->capacity = capacity;
    return true;
}

/* Where there is no room for `wanted` bytes, the rest counts as over the limit, lest there is a hole in what is kept. */
static void make_room(struct output *output, size_t wanted) {
    uint64_t most = share_of_memory(ROOM_SHARE), others = room_bytes - output->capacity, left = most > others ? most - others : 0;
    size_t capacity = output->capacity < 4096 ? 4096 : output->capacity;
    while (capacity < wanted)
        capacity *= 2;
    if (left < ROOM_FOR_EACH)
        left = ROOM_FOR_EACH;
    if (capacity > left)
        capacity = left < wanted ? (size_t)left : wanted;
    if (capacity > output->limit)
        capacity = output->limit;
    if (capacity > output->capacity)
        allocate(output, capacity);
    if (output->capacity < wanted)
        output->limit = output->capacity;
}

static void keep(struct output *output, const uint8_t *bytes, size_t length) {
    output->written += length;
    if (length > output->limit - output->kept)
        length = output->limit - output->kept;
    if (length > output->capacity - output->kept)
        make_room(output, output->kept + length);
    if (length > output->limit - output->kept)
        length = output->limit - output->kept;
    if (length > 0)
        memcpy(output->bytes + output->kept, bytes, length);
    output->kept += length;
}

/* What comes from a pipe, once it is in `scratch`. */
static void take_output(struct command *command, struct output *output, size_t length) {
    keep(output, scratch, length);
    if (command->terminal != 0)
        session_write(command->terminal, scratch, length);
}

static void output_ready(struct command *command, struct output *output) {
    ssize_t length = read(output->pipe.fd, scratch, sizeof scratch);
    if (length > 0) {
        take_output(command, output, (size_t)length);
    } else if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
        watch_end(&output->pipe);
        output->ended = true;
    }
}

static void stdout_ready(struct watch *watch, uint32_t events) {
    (void)events;
    struct command *command = CONTAINER(watch, struct command, output[0].pipe);
    output_ready(command, &command->output[0]);
}

static void stderr_ready(struct watch *watch, uint32_t events) {
    (void)events;
    struct command *command = CONTAINER(watch, struct command, output[1].pipe);
    output_ready(command, &command->output[1]);
}

/* Descendants that outlive their command and write on would die of SIGPIPE if its pipes were closed, so each pipe
   that someone still holds is read to its end by a drain that forgets. */
struct drain {
    struct watch pipe;
};

static void drain_ready(struct watch *watch, uint32_t events) {
    (void)events;
    ssize_t length = read(watch->fd, scratch, sizeof scratch);
    if (length == 0 || (length == -1 && errno != EAGAIN && errno != EINTR)) {
        watch_end(watch);
        free(CONTAINER(watch, struct drain, pipe));
    }
}

static void output_end(struct command *command, struct output *output) {
    output->ended = true;
    int fd = watch_release(&output->pipe);
    if (fd == -1)
        return;
    /* Exactly what is in the pipe now: a descendant that writes on could fill it for ever. */
    int available = 0;
    ioctl(fd, FIONREAD, &available);
    while (available > 0) {
        size_t wanted = (size_t)available < sizeof scratch ? (size_t)available : sizeof scratch;
        ssize_t length = read(fd, scratch, wanted);
        if (length <= 0)
            break;
        take_output(command, output, (size_t)length);
        available -= (int)length;
    }
    if (read(fd, scratch, 1) == 0) {
        close(fd);
        return;
    }
    struct drain *drain = malloc(sizeof *drain);
    if (drain == NULL)
        close(fd);
    else if (watch_begin(&drain->pipe, fd, EPOLLIN, drain_ready) == -1)
        free(drain);
}

/* Start and end */

static void forget(struct command *command) {
    list_remove(&command->link);
    ended_count--;
    for (int i = 0; i < 2; i++) {
        kept_bytes -= command->output[i].kept;
        room_bytes -= command->output[i].capacity;
        free(command->output[i].bytes);
    }
    free(command);
}

static void command_end(struct command *command, int status) {
    command->ended = true;
    command->status = status;
    command->ended_at = now_ms();
    watch_end(&command->process);
    struct fault fault;
    if (read(command->launch_error, &fault, sizeof fault) == sizeof fault)
        command->fault = fault;
    close(command->launch_error);
    input_close(&command->input);
    for (int i = 0; i < 2; i++) {
        struct output *output = &command->output[i];
        output_end(command, output);
        if (output->kept > 0)
            allocate(output, output->kept);
        kept_bytes += output->kept;
    }
    list_remove(&command->link);
    list_append(&ended, &command->link);
    running_count--;
    ended_count++;
}

/* Whether it has ended by now. */
static bool command_reap(struct command *command) {
    int status;
    pid_t pid = waitpid(command->pid, &status, WNOHANG);
    if (pid == command->pid)
        command_end(command, status);
    return command->ended;
}

static void process_ready(struct watch *watch, uint32_t events) {
    (void)events;
    command_reap(CONTAINER(watch, struct command, process));
}

void command_signal(struct command *command, int signal) {
    /* Once waited for, the number may be another group's. */
    if (command->ended || command_reap(command))
        return;
    if (kill(-command->pid, signal) == -1 && errno == ESRCH)
        kill(command->pid, signal); /* forked, but not yet the leader of its group */
}

static void close_pipes(int pipes[4][2]) {
    for (int i = 0; i < 4; i++)
        for (int end = 0; end < 2; end++)
            if (pipes[i][end] != -1)
                close(pipes[i][end]);
}

static bool open_pipes(int pipes[4][2]) {
    memset(pipes, -1, 4 * sizeof *pipes);
    for (int i = 0; i < 4; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) == -1) {
            pipes[i][0] = pipes[i][1] = -1;
            return false;
        }
        int ours = pipes[i][i == 0 ? 1 : 0];
        fcntl(ours, F_SETFL, O_NONBLOCK);
    }
    return true;
}

static struct command *command_new(const struct fields *request) {
    struct command *command = calloc(1, sizeof *command);
    if (command == NULL)
        return NULL;
    memcpy(command->id, request->bytes[TAG_EXEC_ID], ID_LENGTH);
    command->input.pipe.fd = command->process.fd = -1;
    uint64_t limit = request->present[TAG_OUTPUT_LIMIT] ? request->number[TAG_OUTPUT_LIMIT] : DEFAULT_OUTPUT_LIMIT;
    for (int i = 0; i < 2; i++) {
        command->output[i].limit = limit < SIZE_MAX / 4 ? (size_t)limit : SIZE_MAX / 4;
        command->output[i].pipe.fd = -1;
    }
    return command;
}

/* Hands the agent's ends to the event loop. The process's own descriptor is last: it is what ends the command. */
static bool command_watch(struct command *command, int pipes[4][2]) {
    int process = (int)syscall(SYS_pidfd_open, command->pid, 0);
    struct {
        struct watch *watch;
        int *fd;
        uint32_t events;
        void (*ready)(struct watch *, uint32_t);
    } all[] = {{&command->output[0].pipe, &pipes[1][0], EPOLLIN, stdout_ready},
               {&command->output[1].pipe, &pipes[2][0], EPOLLIN, stderr_ready},
               {&command->process, &process, EPOLLIN, process_ready}};
    if (process == -1)
        return false;
    int input = pipes[0][1];
    pipes[0][1] = -1;
    if (input_begin(&command->input, input) == -1) {
        close(process);
        return false;
    }
    for (int i = 0; i < 3; i++) {
        int fd = *all[i].fd;
        *all[i].fd = -1;
        if (watch_begin(all[i].watch, fd, all[i].events, all[i].ready) == -1) {
            if (process != -1)
                close(process);
            return false;
        }
    }
    return true;
}

static struct command *start(const struct fields *request, struct fault *fault) {
    if (running_count >= COMMAND_LIMIT) {
        fault_set(fault, "TOO_MANY", "%u commands are running", running_count);
        return NULL;
    }
    struct command *command = command_new(request);
    int pipes[4][2];
    if (command == NULL || !open_pipes(pipes)) {
        fault_set(fault, "FAILED", "cannot make the command's pipes: %s", strerror(errno));
        if (command != NULL)
            close_pipes(pipes);
        free(command);
        return NULL;
    }
    command->pid = launch(request, (int[4]){pipes[0][0], pipes[1][1], pipes[2][1], pipes[3][1]}, fault);
    if (command->pid != -1 && !command_watch(command, pipes)) {
        fault_set(fault, "FAILED", "cannot watch the command: %s", strerror(errno));
        kill(-command->pid, SIGKILL);
        kill(command->pid, SIGKILL);
        waitpid(command->pid, NULL, 0);
        watch_end(&command->input.pipe);
        watch_end(&command->output[0].pipe);
        watch_end(&command->output[1].pipe);
        command->pid = -1;
    }
    if (command->pid == -1) {
        close_pipes(pipes);
        free(command);
        return NULL;
    }
    command->launch_error = pipes[3][0];
    pipes[3][0] = -1;
    close_pipes(pipes);
    uint64_t limit = request->number[TAG_TIME_LIMIT];
    if (request->present[TAG_TIME_LIMIT] && limit < UINT64_MAX / 2)
        command->deadline = now_ms() + limit;
    list_append(&running, &command->link);
    running_count++;
    return command;
}

struct command *command_start(const struct fields *request, struct fault *fault) {
    struct session *session = NULL;
    bool fresh = false;
    if (request->text[TAG_TERMINAL] != NULL) {
        struct fields shell = {.present = {false}}; /* the command itself is not the terminal's */
        shell.text[TAG_USER] = request->text[TAG_USER];
        session = session_obtain(&shell, request->text[TAG_TERMINAL], &fresh, fault);
        if (session == NULL)
            return NULL;
    }
    struct command *command = start(request, fault);
    if (command != NULL && session != NULL)
        command->terminal = session->number;
    if (command == NULL && fresh) {
        kill(session->pid, SIGKILL);
        session_close(session);
    }
    return command;
}

/* Time */

static int sooner(int timeout, uint64_t at, uint64_t now) {
    uint64_t left = at > now ? at - now : 0;
    int bounded = left < INT32_MAX ? (int)left : INT32_MAX;
    return timeout == -1 || bounded < timeout ? bounded : timeout;
}

static size_t kept_limit(void) {
    uint64_t share = share_of_memory(KEPT_SHARE);
    return share < KEPT_LIMIT ? (size_t)share : KEPT_LIMIT;
}

int commands_tick(void) {
    uint64_t now = now_ms();
    int timeout = -1;
    for (struct link *at = running.next, *next; at != &running; at = next) {
        struct command *command = CONTAINER(at, struct command, link);
        next = at->next;
        if (command->deadline == 0 || command->killed_at_limit)
            continue;
        if (command->deadline > now) {
            timeout = sooner(timeout, command->deadline, now);
        } else if (!command_reap(command)) {
            command->killed_at_limit = true;
            command_signal(command, SIGKILL);
        }
    }
    for (struct link *at = ended.next, *next; at != &ended; at = next) {
        struct command *command = CONTAINER(at, struct command, link);
        next = at->next;
        bool surplus = kept_bytes > kept_limit() || running_count + ended_count > COMMAND_LIMIT;
        if (!surplus && command->ended_at + KEPT_MS > now) {
            timeout = sooner(timeout, command->ended_at + KEPT_MS, now);
            break;
        }
        if (command->streams == 0)
            forget(command);
    }
    return timeout;
}
