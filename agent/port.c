/* Owns the port's descriptor, its two buffers, and being in step: finding the magic, checking frames, losing step.
 *
 * A virtio port has no open or close that could be trusted: bytes of a connection that ended hours ago may be in
 * front of those of the present one. Only the magic begins a connection. */
#include "port.h"

#include "agent.h"
#include "connection.h"
#include "crc32c.h"
#include "event.h"
#include "fields.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PORT_NAME "coppice.agent.0"
#define FRAME_MARK 0xC7
#define BUFFER_LENGTH (4 * FRAME_LIMIT)
#define RECEIVE_LIMIT 16
#define FLUSH_LIMIT 4
#define DISCOVERY_MS 20 /* until the port appears: its module may load after us */
#define GONE_MS 10000   /* without a host for so long, its connection is over */
#define RETRY_MS 100    /* in case a wake-up of the driver is missed; the events are what we count on */

struct buffer {
    uint8_t bytes[BUFFER_LENGTH];
    size_t start, end;
};

static struct watch watch = {.fd = -1};
static const char *device;
static struct buffer in, out;
static bool in_step;
static bool readable, writable; /* false once the driver said EAGAIN, until its next event */
static bool no_host;            /* the driver says that no host is connected */
static uint64_t last_received;

static void compact(struct buffer *buffer) {
    memmove(buffer->bytes, buffer->bytes + buffer->start, buffer->end - buffer->start);
    buffer->end -= buffer->start;
    buffer->start = 0;
}

static void lose_step(void) {
    in_step = false;
    connection_lost();
}

static void close_connection(void) {
    in.start = in.end = out.start = out.end = 0;
    lose_step();
}

static void port_ready(struct watch *w, uint32_t events) {
    (void)w;
    (void)events;
    readable = writable = true;
}

static void attach(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    /* Edge-triggered: without a host the driver reports EPOLLIN and EPOLLHUP all the time. Both directions, because
       a host that connects shows only as EPOLLOUT. */
    if (watch_begin(&watch, fd, EPOLLIN | EPOLLOUT | EPOLLET, port_ready) == -1)
        note("cannot watch the port: %s", strerror(errno));
    readable = writable = true;
    /* A host may be in the middle of a connection with the agent that was here before us, and wait for answers that never come.
       So many zeros end whatever frame it is in and are none, so it connects again; one that just connects drops them. */
    out.end = FRAME_LIMIT;
}

static bool find_device(char *path, size_t size) {
    DIR *ports = opendir("/sys/class/virtio-ports");
    if (ports == NULL)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(ports)) != NULL;) {
        char name[64] = "", file[300];
        snprintf(file, sizeof file, "/sys/class/virtio-ports/%s/name", entry->d_name);
        int fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd == -1)
            continue;
        ssize_t length = read(fd, name, sizeof name - 1);
        close(fd);
        found = length > 0 && strcmp(name, PORT_NAME "\n") == 0;
        if (found)
            snprintf(path, size, "/dev/%s", entry->d_name);
    }
    closedir(ports);
    return found;
}

static void discover(void) {
    char path[300];
    if (device != NULL)
        snprintf(path, sizeof path, "%s", device);
    else if (!find_device(path, sizeof path))
        return;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd != -1)
        attach(fd);
}

void port_open(const char *path, int fd) {
    device = path;
    if (fd != -1)
        attach(fd);
}

/* Returns whether it got anything. */
static bool receive(void) {
    if (BUFFER_LENGTH - in.end < FRAME_LIMIT && in.start > 0)
        compact(&in);
    if (!readable || in.end == BUFFER_LENGTH)
        return false;
    ssize_t length = read(watch.fd, in.bytes + in.end, BUFFER_LENGTH - in.end);
    if (length > 0) {
        in.end += (size_t)length;
        no_host = false;
        last_received = now_ms();
        return true;
    }
    readable = false;
    if (length == 0) {
        /* No host, says the driver, but it learns of a new host only after it has given us that host's first bytes
           (seen). To drop anything now could drop a HELLO; the next magic drops what is old. */
        no_host = true;
        if (now_ms() - last_received >= GONE_MS)
            close_connection();
    } else if (errno == EINTR) {
        readable = true;
    } else if (errno != EAGAIN) { /* the device is gone */
        note("the port failed: %s", strerror(errno));
        watch_end(&watch);
        close_connection();
    }
    return false;
}

/* Returns whether it got anywhere, so that it is worth calling again. */
static bool find_magic(void) {
    uint8_t *magic = memmem(in.bytes + in.start, in.end - in.start, MAGIC, MAGIC_LENGTH);
    if (magic == NULL) {
        if (in.end - in.start >= MAGIC_LENGTH)
            in.start = in.end - (MAGIC_LENGTH - 1);
        return false;
    }
    in.start = (size_t)(magic - in.bytes);
    if (in.end - in.start < MAGIC_LENGTH + NONCE_LENGTH)
        return false;
    in.start += MAGIC_LENGTH + NONCE_LENGTH;
    in_step = true;
    out.start = out.end = 0;
    connection_begin(magic + MAGIC_LENGTH);
    return true;
}

static uint32_t checksum(const uint8_t *header, const uint8_t *payload, size_t length) {
    return crc32c(crc32c(0, header, 12), payload, length);
}

static bool take_frame(void) {
    size_t available = in.end - in.start;
    uint8_t *header = in.bytes + in.start;
    if (available == 0)
        return false;
    if (header[0] != FRAME_MARK) {
        lose_step();
        return true;
    }
    if (available < HEADER_LENGTH)
        return false;
    size_t length = get_u32(header + 8);
    if (length > PAYLOAD_LIMIT) {
        lose_step();
        return true;
    }
    if (available < HEADER_LENGTH + length)
        return false;
    /* A bad frame goes as a whole: its payload is a user's, who could have put a magic and frames into it. */
    in.start += HEADER_LENGTH + length;
    struct frame frame = {.kind = header[1],
                          .channel = header[2],
                          .flags = header[3],
                          .stream = get_u32(header + 4),
                          .payload = header + HEADER_LENGTH,
                          .length = length};
    if (get_u32(header + 12) != checksum(header, frame.payload, length) || !connection_frame(&frame))
        lose_step();
    return true;
}

/* Returns whether it wrote anything. */
static bool flush(void) {
    if (!writable || out.start == out.end)
        return false;
    ssize_t length = write(watch.fd, out.bytes + out.start, out.end - out.start);
    if (length > 0) {
        out.start += (size_t)length;
        return true;
    }
    /* Any other error shows when we read. */
    writable = length == -1 && errno == EINTR;
    return false;
}

int port_serve(void) {
    if (watch.fd == -1) {
        discover();
        if (watch.fd == -1)
            return DISCOVERY_MS;
    }
    bool moved = false;
    for (int i = 0; i < RECEIVE_LIMIT && receive(); i++) /* the driver gives 4 KiB at once: a frame takes several */
        moved = true;
    /* A host that sends but does not read is not answered without limit: what has no room waits in the port. */
    while (port_has_room() && (in_step ? take_frame() : find_magic()))
        ;
    connection_pump();
    for (int i = 0; i < FLUSH_LIMIT && flush(); i++) /* the driver takes 32 KiB at once; what is left would be moved about */
        moved = true;
    if (moved)
        return 0;
    if (!no_host && out.start == out.end)
        return -1;
    static uint64_t last_retry;
    if (now_ms() - last_retry < RETRY_MS)
        return RETRY_MS;
    last_retry = now_ms();
    readable = writable = true;
    return 0;
}

bool port_has_room(void) {
    if (out.start == out.end)
        out.start = out.end = 0;
    if (BUFFER_LENGTH - out.end < FRAME_LIMIT && out.start > 0)
        compact(&out);
    return BUFFER_LENGTH - out.end >= FRAME_LIMIT;
}

bool port_is_flushed(void) {
    return out.start == out.end;
}

uint8_t *port_payload(void) {
    return out.bytes + out.end + HEADER_LENGTH;
}

void port_send(enum kind kind, uint8_t channel, uint32_t stream, size_t length) {
    uint8_t *header = out.bytes + out.end;
    header[0] = FRAME_MARK;
    header[1] = (uint8_t)kind;
    header[2] = channel;
    header[3] = 0;
    put_u32(header + 4, stream);
    put_u32(header + 8, (uint32_t)length);
    put_u32(header + 12, checksum(header, header + HEADER_LENGTH, length));
    out.end += HEADER_LENGTH + length;
}

void port_send_preamble(const uint8_t nonce[NONCE_LENGTH]) {
    memcpy(out.bytes + out.end, MAGIC, MAGIC_LENGTH);
    memcpy(out.bytes + out.end + MAGIC_LENGTH, nonce, NONCE_LENGTH);
    out.end += MAGIC_LENGTH + NONCE_LENGTH;
}
