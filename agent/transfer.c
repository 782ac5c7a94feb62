/* Owns the processes and pipes of transfers.
 *
 * A child has nothing of the stream but its pipes and its conduit, so it is killed at any time without a trace: what changes files for good
 * does so only after END, and is then left to finish. The outcome is read when the process has ended. */
#include "transfer.h"

#include "agent.h"
#include "event.h"
#include "launch.h"
#include "list.h"
#include "stream.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRANSFER_LIMIT 64
#define BODY_PIPE (1 << 20) /* what the child can be ahead */
#define KILL_MS 5000        /* from SIGTERM, which lets a writer remove its file, to SIGKILL */

struct outflow {
    struct watch pipe;
    bool readable; /* false once it was empty, until its next event */
};

struct transfer {
    struct link link;
    const struct transfer_kind *kind;
    struct stream *stream; /* NULL when it has left */
    pid_t pid;
    struct watch process;
    struct outflow out[2]; /* channels 1 and 2 */
    struct conduit input;
    int result; /* pipe with the outcome; -1 once that is known */
    uint64_t kill_at;
    bool ended;
    struct outcome outcome;
};

static struct link transfers = {&transfers, &transfers};
static unsigned count;

/* The end */

/* The outcome is written before any of the process's pipes is closed by its end, so whoever saw such an end finds it here. */
static void outcome_look(struct transfer *transfer) {
    if (transfer->result == -1)
        return;
    ssize_t length = read(transfer->result, &transfer->outcome, sizeof transfer->outcome);
    if (length == -1)
        return; /* it has closed a pipe and goes on */
    if (length != sizeof transfer->outcome)
        fault_set(&transfer->outcome.fault, "FAILED", "the process of this request was killed");
    close(transfer->result);
    transfer->result = -1;
}

static void process_ready(struct watch *watch, uint32_t events) {
    (void)events;
    struct transfer *transfer = CONTAINER(watch, struct transfer, process);
    if (waitpid(transfer->pid, NULL, WNOHANG) != transfer->pid)
        return;
    watch_end(&transfer->process);
    conduit_close(&transfer->input);
    outcome_look(transfer);
    transfer->ended = true;
}

static void transfer_free(struct transfer *transfer) {
    list_remove(&transfer->link);
    count--;
    for (int i = 0; i < 2; i++)
        watch_end(&transfer->out[i].pipe);
    free(transfer);
}

static void transfer_leave(struct stream *stream) {
    struct transfer *transfer = stream->subject;
    transfer->stream = NULL;
    if (transfer->ended || transfer->input.ended)
        return; /* a write that has everything is let finish */
    kill(transfer->pid, transfer->kind->takes_body ? SIGTERM : SIGKILL);
    transfer->kill_at = now_ms() + KILL_MS;
}

int transfers_tick(void) {
    uint64_t now = now_ms();
    int timeout = -1;
    for (struct link *at = transfers.next, *next; at != &transfers; at = next) {
        struct transfer *transfer = CONTAINER(at, struct transfer, link);
        next = at->next;
        if (transfer->stream != NULL)
            continue;
        if (transfer->ended) {
            transfer_free(transfer);
        } else if (transfer->kill_at != 0 && transfer->kill_at <= now) {
            kill(transfer->pid, SIGKILL);
            transfer->kill_at = 0;
        } else if (transfer->kill_at != 0) {
            int left = (int)(transfer->kill_at - now);
            timeout = timeout == -1 || left < timeout ? left : timeout;
        }
    }
    return timeout;
}

/* The stream */

/* Straight from the pipe into the port's buffer. What is refused has no END: its pipe has ended with its process. */
static bool send_pipe(struct stream *stream, struct transfer *transfer, unsigned which) {
    struct outflow *out = &transfer->out[which];
    if (stream->outlet[which].ended)
        return false;
    size_t room = stream_room(stream, which);
    ssize_t length = 0;
    if (out->pipe.fd != -1 && room == 0) {
        int available = 1;
        if (!transfer->ended || ioctl(out->pipe.fd, FIONREAD, &available) == -1 || available > 0)
            return false;
    } else if (out->pipe.fd != -1) {
        if (!out->readable)
            return false;
        length = read(out->pipe.fd, stream_data(), room);
        if (length == -1) {
            out->readable = errno == EINTR;
            return false;
        }
    }
    if (length > 0) {
        stream_send_data(stream, which, (size_t)length);
        return true;
    }
    outcome_look(transfer);
    if (transfer->outcome.fault.code != NULL)
        return false; /* the refusal follows with the end of the process */
    watch_end(&out->pipe);
    stream_send_end(stream, which);
    return true;
}

static void send_result(struct stream *stream, struct transfer *transfer) {
    if (transfer->kind->answers) {
        ssize_t length = read(transfer->out[1].pipe.fd, port_payload(), PAYLOAD_LIMIT);
        stream_finish(stream, length > 0 ? (size_t)length : 0);
    } else {
        stream_answer(stream, &transfer->outcome);
    }
}

static bool transfer_send(struct stream *stream) {
    struct transfer *transfer = stream->subject;
    const struct transfer_kind *kind = transfer->kind;
    if (transfer->ended && transfer->outcome.fault.code != NULL) {
        stream_refuse(stream, &transfer->outcome.fault);
        return true;
    }
    if (kind->takes_body && stream_send_credit(stream, conduit_credit(&transfer->input)))
        return true;
    if ((kind->describes && send_pipe(stream, transfer, 1)) || (kind->gives_body && send_pipe(stream, transfer, 0)))
        return true;
    if (!transfer->ended || (kind->describes && !stream->outlet[1].ended) || (kind->gives_body && !stream->outlet[0].ended))
        return false;
    send_result(stream, transfer);
    return true;
}

static bool transfer_take(struct stream *stream, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault) {
    struct transfer *transfer = stream->subject;
    if (!transfer->kind->takes_body)
        return fault_set(fault, "BAD_REQUEST", "DATA that no one expects");
    (void)offset; /* the next: no stream comes to a transfer that was there before */
    return conduit_take(&transfer->input, bytes, length, fault);
}

static bool transfer_end(struct stream *stream, uint64_t offset, struct fault *fault) {
    struct transfer *transfer = stream->subject;
    if (!transfer->kind->takes_body)
        return fault_set(fault, "BAD_REQUEST", "END that no one expects");
    if (offset != transfer->input.received)
        return fault_set(fault, "BAD_REQUEST", "END at another offset than the next");
    conduit_end(&transfer->input);
    return true;
}

/* The start */

struct pipes {
    int body[2], description[2], result[2];
    struct conduit_exit input;
};

static void close_pair(int pair[2]) {
    for (int i = 0; i < 2; i++)
        if (pair[i] != -1)
            close(pair[i]);
}

static void close_pipes(struct pipes *pipes) {
    close_pair(pipes->body);
    close_pair(pipes->description);
    close_pair(pipes->result);
    if (pipes->input.bell != -1)
        close(pipes->input.bell);
}

static bool open_pair(bool wanted, int pair[2]) {
    pair[0] = pair[1] = -1;
    if (!wanted)
        return true;
    if (pipe2(pair, O_CLOEXEC) == -1) {
        pair[0] = pair[1] = -1;
        return false;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    return true;
}

static bool open_pipes(struct pipes *pipes, struct transfer *transfer) {
    const struct transfer_kind *kind = transfer->kind;
    memset(pipes, -1, sizeof *pipes);
    bool opened = open_pair(kind->gives_body, pipes->body) && open_pair(kind->describes || kind->answers, pipes->description) &&
                  open_pair(true, pipes->result) && (!kind->takes_body || conduit_open(&transfer->input, &pipes->input));
    if (opened && pipes->body[0] != -1)
        fcntl(pipes->body[0], F_SETPIPE_SZ, BODY_PIPE); /* where refused, it is slower */
    return opened;
}

/* The child has its ends and no other descriptor. */
static void keep_ends(struct pipes *pipes) {
    int *ends[] = {&pipes->result[1], &pipes->body[1], &pipes->description[1], &pipes->input.bell, &pipes->input.taken};
    int kept[sizeof ends / sizeof *ends];
    unsigned count = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (*ends[i] != -1)
            kept[count++] = *ends[i];
    keep_descriptors(kept, count);
    count = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (*ends[i] != -1)
            *ends[i] = kept[count++];
}

static _Noreturn void child(const struct transfer_kind *kind, const struct fields *request, struct pipes *pipes) {
    keep_ends(pipes);
    struct ends ends = {kind->takes_body ? &pipes->input : NULL, pipes->body[1], pipes->description[1]};
    signal(SIGTERM, SIG_DFL);
    /* Lest it takes the processor from the agent for each frame. By the system call: the library has none. */
    syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &(int){0});
    reset_oom_score();
    umask(0);
    struct outcome outcome = {.fault.code = NULL};
    const char *name = request->text[TAG_USER]; /* absent: root, which we are */
    const struct passwd *user = name != NULL ? user_find(name, &outcome.fault) : NULL;
    if (name == NULL || (user != NULL && user_become(user, &outcome.fault)))
        kind->work(request, ends, &outcome);
    ssize_t written = write(pipes->result[1], &outcome, sizeof outcome);
    _exit(written == sizeof outcome ? 0 : 1);
}

static void outflow_ready(struct watch *watch, uint32_t events) {
    (void)events;
    CONTAINER(watch, struct outflow, pipe)->readable = true;
}

static int outflow_begin(struct outflow *out, int *fd) {
    int taken = *fd;
    *fd = -1;
    out->readable = true;
    /* Edge-triggered: without credit a full pipe would wake us all the time. */
    return taken == -1 ? 0 : watch_begin(&out->pipe, taken, EPOLLIN | EPOLLET, outflow_ready);
}

/* Takes the agent's ends out of the pipes. The process's own descriptor is last: it is what ends the transfer. */
static bool transfer_watch(struct transfer *transfer, struct pipes *pipes) {
    int process = (int)syscall(SYS_pidfd_open, transfer->pid, 0);
    bool watched = process != -1 && outflow_begin(&transfer->out[0], &pipes->body[0]) == 0 &&
                   outflow_begin(&transfer->out[1], &pipes->description[0]) == 0;
    if (!watched && process != -1)
        close(process);
    return watched && watch_begin(&transfer->process, process, EPOLLIN, process_ready) == 0;
}

static struct transfer *transfer_new(const struct transfer_kind *kind, struct stream *stream) {
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer == NULL)
        return NULL;
    transfer->kind = kind;
    transfer->stream = stream;
    transfer->process.fd = transfer->out[0].pipe.fd = transfer->out[1].pipe.fd = -1;
    transfer->input.bell = transfer->input.taken.fd = -1;
    return transfer;
}

static bool begin(struct transfer *transfer, const struct fields *request, struct fault *fault) {
    struct pipes pipes;
    bool begun = open_pipes(&pipes, transfer);
    if (!begun)
        fault_set(fault, "FAILED", "cannot make the pipes of a file request: %s", strerror(errno));
    if (begun) {
        transfer->pid = fork();
        if (transfer->pid == 0)
            child(transfer->kind, request, &pipes);
        begun = transfer->pid != -1;
        if (!begun)
            fault_set(fault, "FAILED", "cannot fork: %s", strerror(errno));
    }
    if (begun && !transfer_watch(transfer, &pipes)) {
        fault_set(fault, "FAILED", "cannot watch a file request: %s", strerror(errno));
        kill(transfer->pid, SIGKILL);
        waitpid(transfer->pid, NULL, 0);
        watch_end(&transfer->out[0].pipe);
        watch_end(&transfer->out[1].pipe);
        begun = false;
    }
    if (begun) {
        transfer->result = pipes.result[0];
        pipes.result[0] = -1;
    } else {
        conduit_close(&transfer->input);
    }
    close_pipes(&pipes);
    return begun;
}

/* Refuses what the kernel would understand in another way than the caller, before any process has to be made. */
static bool check_path(const char *path, struct fault *fault) {
    if (path == NULL || path[0] != '/')
        return fault_set(fault, "BAD_REQUEST", "a file request needs an absolute path");
    if (strlen(path) > 4095)
        return fault_set(fault, "BAD_REQUEST", "the path is longer than 4095 bytes");
    for (const char *at = path; *at != 0;) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.')
            return fault_set(fault, "BAD_REQUEST", "the path has a .. in it; write it without");
        at += length;
    }
    return true;
}

void transfer_start(struct stream *stream, const struct transfer_kind *kind, const struct fields *request) {
    static const struct service service = {
        .send = transfer_send, .take = transfer_take, .end = transfer_end, .leave = transfer_leave};
    struct fault fault;
    struct transfer *transfer = NULL;
    if (!check_path(request->text[TAG_PATH], &fault))
        ;
    else if (count >= TRANSFER_LIMIT)
        fault_set(&fault, "TOO_MANY", "%u file requests are under way", count);
    else if ((transfer = transfer_new(kind, stream)) == NULL)
        fault_set(&fault, "FAILED", "out of memory");
    if (transfer == NULL || !begin(transfer, request, &fault)) {
        free(transfer);
        stream_refuse(stream, &fault);
        return;
    }
    list_append(&transfers, &transfer->link);
    count++;
    stream_serve(stream, &service, transfer);
}
