/* One end of the connections that tests of networks try: it runs in a guest's network namespace, listens, opens connections, and writes and
 * hears raw frames. It does what lines on its standard input say, and ends with it.
 *
 *     probe DEVICE PORT...            listens on these ports by TCP and UDP; DEVICE is where frames are written and heard
 *
 *     flow ID PROTOCOL FROM PORT TO PORT MS SIZE    opens a connection, says "ID reached PEER", "ID silent" or "ID error NAME"
 *     stream ID PROTOCOL FROM PORT TO PORT MS       opens one and says something every MS
 *     count ID                                      "ID SENT ANSWERED WRONG": of a stream
 *     rest ID, end ID                               the same; it says no more, or is gone
 *     say TEXT                                      to whoever has a connection to it; "said N"
 *     watch                                         hears frames from now on
 *     heard                                         "N", and as many lines of frames in hexadecimal; each frame once
 *     frame HEX                                     writes one; "written", or "error NAME"
 *
 * PROTOCOL is tcp, udp or icmp, for whose echo the port is nothing. A SIZE is of what is said; with a `!` behind it, nobody on the way may
 * take it apart. What is said begins with `ask` and the ID and is answered only then, by `answer`, the ID and the address that was seen. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_MS 120 /* until a datagram without an answer is sent once more */
#define MESSAGE 16384
#define FRAME 160     /* as much of a frame is kept */
#define FRAMES 100000 /* so many frames are */
#define MACS 12       /* as many bytes of a frame say from whom to whom it goes */
#define NUMBERS (1 << 20) /* of what a stream says */

enum kind { ASKING, LISTENING, ACCEPTED, DATAGRAMS, ECHOES, HEARING, COMMANDS };
enum protocol { TCP, UDP, ICMP };

/* A socket, and what it is for. */
struct end {
    enum kind kind;
    enum protocol protocol;
    int fd;
    struct end *next; /* of those that ask, or were accepted */
    char id[64];
    struct sockaddr_storage from, to;
    bool is_stream, is_resting, is_connected, is_whole;
    size_t size;
    int64_t due, again; /* 0: not */
    int interval;
    long sent, answered, wrong;
    uint8_t *seen; /* of a stream's numbers */
    char peer[INET6_ADDRSTRLEN]; /* as which the other end saw it; empty: not known yet */
    size_t held;                 /* of bytes that are no line yet */
    char line[512];
};

static struct end *asking, *accepted, *echoes4, *echoes6, *hearing;
static int loop;
static char device[IFNAMSIZ];
static bool is_watching;
static struct { uint16_t length; uint8_t bytes[FRAME]; } *frames;
static size_t frame_count;
static char message[MESSAGE + 1];

static void fail(const char *what) {
    fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static void set(int fd, int level, int option, int value) {
    if (setsockopt(fd, level, option, &value, sizeof value) == -1)
        fail("setsockopt");
}

static struct end *watched(enum kind kind, enum protocol protocol, int fd, uint32_t events) {
    struct end *end = calloc(1, sizeof *end);
    if (end == NULL)
        fail("calloc");
    end->kind = kind;
    end->protocol = protocol;
    end->fd = fd;
    struct epoll_event event = {.events = events, .data.ptr = end};
    if (fd != -1 && epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) == -1)
        fail("epoll_ctl");
    return end;
}

/* Addresses */

static struct sockaddr_storage address(const char *text, int port) {
    struct sockaddr_storage result = {0};
    struct sockaddr_in *v4 = (void *)&result;
    struct sockaddr_in6 *v6 = (void *)&result;
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
    } else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
            v6->sin6_scope_id = if_nametoindex(device);
    } else {
        errno = EINVAL;
        fail(text);
    }
    return result;
}

static socklen_t length(const struct sockaddr_storage *of) {
    return of->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static const char *text(const struct sockaddr_storage *of) {
    static char result[INET6_ADDRSTRLEN];
    const void *bytes = of->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)of)->sin_addr
                                                 : (const void *)&((const struct sockaddr_in6 *)of)->sin6_addr;
    inet_ntop(of->ss_family, bytes, result, sizeof result);
    return result;
}

static bool is_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b) {
    char first[INET6_ADDRSTRLEN];
    strcpy(first, text(a));
    return strcmp(first, text(b)) == 0;
}

/* Those that listen */

static void listen_on(int family, int type, int port) {
    int fd = socket(family, type | SOCK_NONBLOCK, 0);
    struct sockaddr_storage any = address(family == AF_INET ? "0.0.0.0" : "::", port);
    if (fd == -1)
        fail("socket");
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    /* Where others work too, it may be some time until they are read. */
    set(fd, SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
    if (family == AF_INET6)
        set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (type == SOCK_DGRAM && family == AF_INET)
        set(fd, IPPROTO_IP, IP_PKTINFO, 1);
    if (type == SOCK_DGRAM && family == AF_INET6)
        set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    if (bind(fd, (void *)&any, length(&any)) == -1 || (type == SOCK_STREAM && listen(fd, 1024) == -1))
        fail("cannot listen");
    watched(type == SOCK_STREAM ? LISTENING : DATAGRAMS, type == SOCK_STREAM ? TCP : UDP, fd, EPOLLIN);
}

/* Makes the answer to `message`, which has `size` bytes and is made no shorter, and says how long it is; 0 if nothing is to be said. */
static size_t answer(char *to, size_t size, const struct sockaddr_storage *peer) {
    char id[64];
    message[size] = '\0';
    if (sscanf(message, "ask %63s", id) != 1)
        return 0;
    size_t used = (size_t)sprintf(to, "answer %s %s \n", id, text(peer));
    if (used >= size)
        return used;
    memset(to + used - 1, '.', size - used);
    to[size - 1] = '\n';
    return size;
}

/* From the address that was asked. */
static void answer_datagrams(struct end *end) {
    static char reply[MESSAGE + 128];
    for (;;) {
        struct sockaddr_storage peer;
        char control[128];
        struct iovec part = {message, MESSAGE};
        struct msghdr header = {
            .msg_name = &peer, .msg_namelen = sizeof peer, .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t size = recvmsg(end->fd, &header, 0);
        if (size == -1)
            return;
        part = (struct iovec){reply, answer(reply, (size_t)size, &peer)};
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c != NULL; c = CMSG_NXTHDR(&header, c)) {
            if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
                struct in_pktinfo *info = (void *)CMSG_DATA(c);
                info->ipi_spec_dst = info->ipi_addr;
                info->ipi_ifindex = 0;
            }
        }
        if (part.iov_len > 0)
            sendmsg(end->fd, &header, 0);
    }
}

static void accept_all(struct end *listener) {
    int fd;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK)) != -1) {
        set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        struct end *end = watched(ACCEPTED, TCP, fd, EPOLLIN);
        socklen_t size = sizeof end->to;
        getpeername(fd, (void *)&end->to, &size);
        end->next = accepted;
        accepted = end;
    }
}

static void drop(struct end **list, struct end *end) {
    while (*list != end)
        list = &(*list)->next;
    *list = end->next;
    if (end->fd != -1)
        close(end->fd);
    free(end->seen);
    free(end);
}

/* Reads what there is and hands out whole lines; false if the connection has ended. */
static bool read_lines(struct end *end, void (*handle)(struct end *, char *line)) {
    for (;;) {
        ssize_t size = read(end->fd, end->line + end->held, sizeof end->line - 1 - end->held);
        if (size == 0)
            errno = ECONNRESET;
        if (size <= 0)
            return size == -1 && (errno == EAGAIN || errno == EINTR);
        end->held += (size_t)size;
        end->line[end->held] = '\0';
        char *start = end->line;
        for (char *stop; (stop = strchr(start, '\n')) != NULL; start = stop + 1) {
            *stop = '\0';
            handle(end, start);
        }
        end->held = strlen(start);
        memmove(end->line, start, end->held + 1);
        if (end->held == sizeof end->line - 1)
            return false;
    }
}

static void answer_line(struct end *end, char *line) {
    char reply[512];
    size_t size = strlen(line);
    memcpy(message, line, size);
    size = answer(reply, size, &end->to);
    if (size > 0 && write(end->fd, reply, size) == -1)
        end->wrong++;
}

/* Those that ask */

static struct end *find(const char *id) {
    for (struct end *at = asking; at != NULL; at = at->next)
        if (strcmp(at->id, id) == 0)
            return at;
    errno = ENOENT;
    fail(id);
    return NULL;
}

static uint16_t checksum(const uint8_t *bytes, size_t size) {
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* The kernel computes the checksum of ICMPv6 only. */
static ssize_t send_echo(struct end *end, const char *what, size_t size) {
    static uint8_t packet[MESSAGE + 8];
    bool is_v6 = end->to.ss_family == AF_INET6;
    memset(packet, 0, 8);
    packet[0] = is_v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
    /* Which flow it is, for connection tracking; the id is hexadecimal. */
    unsigned long number = strtoul(end->id, NULL, 16);
    packet[4] = (uint8_t)(number >> 8);
    packet[5] = (uint8_t)number;
    memcpy(packet + 8, what, size);
    if (!is_v6) {
        uint16_t sum = checksum(packet, size + 8);
        packet[2] = (uint8_t)(sum >> 8);
        packet[3] = (uint8_t)sum;
    }
    char control[CMSG_SPACE(sizeof(struct in6_pktinfo))] = {0};
    struct iovec part = {packet, size + 8};
    struct msghdr header = {.msg_name = &end->to, .msg_namelen = length(&end->to), .msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
    struct cmsghdr *c = (void *)control;
    if (is_v6) {
        struct in6_pktinfo info = {.ipi6_addr = ((struct sockaddr_in6 *)&end->from)->sin6_addr};
        *c = (struct cmsghdr){CMSG_LEN(sizeof info), IPPROTO_IPV6, IPV6_PKTINFO};
        memcpy(CMSG_DATA(c), &info, sizeof info);
        header.msg_controllen = CMSG_SPACE(sizeof info);
    } else {
        struct in_pktinfo info = {.ipi_spec_dst = ((struct sockaddr_in *)&end->from)->sin_addr};
        *c = (struct cmsghdr){CMSG_LEN(sizeof info), IPPROTO_IP, IP_PKTINFO};
        memcpy(CMSG_DATA(c), &info, sizeof info);
        header.msg_controllen = CMSG_SPACE(sizeof info);
    }
    ((struct sockaddr_in *)&end->to)->sin_port = 0; /* at the same place in both families; a raw socket wants none */
    return sendmsg((is_v6 ? echoes6 : echoes4)->fd, &header, 0);
}

static bool ask(struct end *end) {
    static char what[MESSAGE];
    size_t size = end->is_stream ? (size_t)sprintf(what, "ask %s:%ld \n", end->id, end->sent) : (size_t)sprintf(what, "ask %s \n", end->id);
    if (size < end->size) {
        memset(what + size - 1, '.', end->size - size);
        size = end->size;
        what[size - 1] = '\n';
    }
    ssize_t done = end->protocol == ICMP ? send_echo(end, what, size) : send(end->fd, what, size, MSG_NOSIGNAL);
    if (done == (ssize_t)size)
        end->sent++;
    return done != -1;
}

static void finish(struct end *end, const char *how, const char *detail) {
    printf("%s %s%s%s\n", end->id, how, *detail != '\0' ? " " : "", detail);
    drop(&asking, end);
}

/* A connected socket tells by an error what an ICMP message said. */
static void go_wrong(struct end *end, int error) {
    if (!end->is_stream) {
        finish(end, "error", strerrorname_np(error));
        return;
    }
    end->wrong++;
    if (end->protocol == TCP) {
        close(end->fd);
        end->fd = -1;
        end->is_resting = true;
    }
}

/* A stream counts each answer once, and TCP's in order. */
static void hear_answer(struct end *end, char *line) {
    char id[64], peer[INET6_ADDRSTRLEN];
    if (sscanf(line, "answer %63s %45s", id, peer) != 2)
        return;
    if (!end->is_stream) {
        if (strcmp(id, end->id) == 0)
            strcpy(end->peer, peer);
        return;
    }
    char *number = strchr(id, ':');
    long n = number == NULL ? -1 : atol(number + 1);
    if (n < 0 || n >= NUMBERS || end->seen[n] || (end->protocol == TCP && n != end->answered))
        end->wrong++;
    else {
        end->seen[n] = 1;
        end->answered++;
    }
}

static void on_asking(struct end *end) {
    if (end->protocol == UDP) {
        ssize_t size;
        while ((size = recv(end->fd, message, MESSAGE, 0)) != -1) {
            message[size] = '\0';
            hear_answer(end, message);
        }
        if (*end->peer != '\0')
            finish(end, "reached", end->peer);
        else if (errno != EAGAIN)
            go_wrong(end, errno);
        return;
    }
    if (!end->is_connected) {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
            go_wrong(end, error);
            return;
        }
        end->is_connected = true;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};
        epoll_ctl(loop, EPOLL_CTL_MOD, end->fd, &event);
        if (!ask(end))
            go_wrong(end, errno);
        return;
    }
    bool is_open = read_lines(end, hear_answer);
    if (*end->peer != '\0')
        finish(end, "reached", end->peer);
    else if (!is_open)
        go_wrong(end, errno);
}

static void on_echoes(struct end *raw) {
    ssize_t size;
    while ((size = recv(raw->fd, message, MESSAGE, 0)) != -1) {
        struct sockaddr_storage peer = {0};
        message[size] = '\0';
        bool is_v4 = raw == echoes4;
        size_t skipped = is_v4 ? (size_t)(message[0] & 0xf) * 4 : 0;
        if (is_v4)
            memcpy(&((struct sockaddr_in *)&peer)->sin_addr, message + 12, 4);
        char *echo = message + skipped;
        char id[64];
        if ((size_t)size < skipped + 8 || (uint8_t)echo[0] != (is_v4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) || sscanf(echo + 8, "ask %63s", id) != 1)
            continue;
        for (struct end *at = asking; at != NULL; at = at->next) {
            peer.ss_family = AF_INET;
            if (at->protocol == ICMP && strcmp(at->id, id) == 0 && (!is_v4 || is_same_host(&at->to, &peer))) {
                finish(at, "reached", text(&at->to));
                break;
            }
        }
    }
}

/* A connection to the same address and port from the same ones as before has a new socket each time: it is closed at once (RST). */
static int connected(struct end *end) {
    int family = end->to.ss_family;
    int fd = socket(family, (end->protocol == TCP ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK, 0);
    if (fd == -1)
        fail("socket");
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    set(fd, SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
    struct linger abort = {1, 0};
    if (end->protocol == TCP) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    set(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6, family == AF_INET ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, end->is_whole ? IP_PMTUDISC_DO : IP_PMTUDISC_WANT);
    if (bind(fd, (void *)&end->from, length(&end->from)) == -1 || (connect(fd, (void *)&end->to, length(&end->to)) == -1 && errno != EINPROGRESS)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void begin(char *words, bool is_stream) {
    char id[64], protocol[8], from[64], to[64], whole = '\0';
    int from_port, to_port, patience;
    size_t size = 0;
    if (sscanf(words, "%63s %7s %63s %d %63s %d %d %zu%c", id, protocol, from, &from_port, to, &to_port, &patience, &size, &whole) < 7) {
        errno = EINVAL;
        fail(words);
    }
    struct end *end = watched(ASKING, protocol[0] == 't' ? TCP : protocol[0] == 'u' ? UDP : ICMP, -1, 0);
    strcpy(end->id, id);
    end->from = address(from, from_port);
    end->to = address(to, to_port);
    end->size = size;
    end->is_whole = whole == '!';
    end->is_stream = is_stream;
    end->interval = patience;
    end->due = now() + patience;
    end->next = asking;
    asking = end;
    if (is_stream && (end->seen = calloc(NUMBERS, 1)) == NULL)
        fail("calloc");
    if (end->protocol != ICMP) {
        end->fd = connected(end);
        if (end->fd == -1) {
            finish(end, "error", strerrorname_np(errno));
            return;
        }
        struct epoll_event event = {.events = EPOLLIN | (end->protocol == TCP ? EPOLLOUT : 0), .data.ptr = end};
        epoll_ctl(loop, EPOLL_CTL_ADD, end->fd, &event);
    }
    if (end->protocol != TCP && !is_stream) {
        end->again = now() + AGAIN_MS;
        if (!ask(end))
            go_wrong(end, errno);
    }
}

/* Does what the time has come for, and says how long there is nothing more. */
static int pass_time(void) {
    int64_t time = now(), next = time + 1000;
    for (struct end *end = asking, *following; end != NULL; end = following) {
        following = end->next;
        if (end->is_stream && !end->is_resting && time >= end->due) {
            end->due += end->interval;
            if (end->protocol != TCP || end->is_connected)
                ask(end);
        } else if (!end->is_stream && time >= end->due) {
            finish(end, "silent", "");
            continue;
        } else if (end->again != 0 && time >= end->again) {
            end->again = 0;
            ask(end);
        }
        if (end->again != 0 && end->again < next)
            next = end->again;
        if (!end->is_resting && end->due < next)
            next = end->due;
    }
    return next > time ? (int)(next - time) : 0;
}

/* Frames */

static struct end *hear(void) {
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));
    struct sockaddr_ll here = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(device)};
    struct packet_mreq all = {.mr_ifindex = here.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    if (fd == -1 || bind(fd, (void *)&here, sizeof here) == -1 || setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) == -1)
        fail(device);
    set(fd, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);
    return watched(HEARING, ICMP, fd, EPOLLIN);
}

static void on_frames(void) {
    static uint8_t bytes[FRAME];
    for (;;) {
        struct sockaddr_ll from;
        socklen_t size = sizeof from;
        ssize_t got = recvfrom(hearing->fd, bytes, sizeof bytes, 0, (void *)&from, &size);
        if (got == -1)
            return;
        /* What comes out of a tunnel is a packet without a frame. */
        if (from.sll_hatype != ARPHRD_ETHER) {
            size_t kept = (size_t)got > sizeof bytes - MACS - 2 ? sizeof bytes - MACS - 2 : (size_t)got;
            memmove(bytes + MACS + 2, bytes, kept);
            memset(bytes, 0, MACS);
            memcpy(bytes + MACS, &from.sll_protocol, 2);
            got = (ssize_t)kept + MACS + 2;
        }
        if (!is_watching || from.sll_pkttype == PACKET_OUTGOING || frame_count == FRAMES)
            continue;
        frames[frame_count].length = (uint16_t)got;
        memcpy(frames[frame_count++].bytes, bytes, (size_t)got);
    }
}

static void print_frames(void) {
    on_frames();
    printf("%zu\n", frame_count);
    for (size_t i = 0; i < frame_count; i++) {
        for (size_t j = 0; j < frames[i].length; j++)
            printf("%02x", frames[i].bytes[j]);
        printf("\n");
    }
    frame_count = 0;
}

static void write_frame(const char *hex) {
    static uint8_t bytes[2048];
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size && i < sizeof bytes; i++)
        sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
    if (send(hearing->fd, bytes, size, 0) == -1)
        printf("error %s\n", strerrorname_np(errno));
    else
        printf("written\n");
}

/* Commands */

static void count(const char *id, bool is_last, bool is_resting) {
    struct end *end = find(id);
    printf("%s %ld %ld %ld\n", end->id, end->sent, end->answered, end->wrong);
    end->is_resting |= is_resting;
    if (is_last)
        drop(&asking, end);
}

static void say(const char *what) {
    int said = 0;
    for (struct end *at = accepted; at != NULL; at = at->next)
        said += dprintf(at->fd, "%s\n", what) > 0;
    printf("said %d\n", said);
}

static void obey(char *line) {
    char *space = strchr(line, ' ');
    char *rest = space == NULL ? line + strlen(line) : space + 1;
    if (space != NULL)
        *space = '\0';
    if (strcmp(line, "flow") == 0)
        begin(rest, false);
    else if (strcmp(line, "stream") == 0)
        begin(rest, true);
    else if (strcmp(line, "count") == 0)
        count(rest, false, false);
    else if (strcmp(line, "rest") == 0)
        count(rest, false, true);
    else if (strcmp(line, "end") == 0)
        count(rest, true, true);
    else if (strcmp(line, "say") == 0)
        say(rest);
    else if (strcmp(line, "heard") == 0)
        print_frames();
    else if (strcmp(line, "frame") == 0)
        write_frame(rest);
    else if (strcmp(line, "watch") == 0) {
        on_frames();
        is_watching = true;
        frame_count = 0;
        printf("watching\n");
    } else {
        errno = EINVAL;
        fail(line);
    }
}

/* By lines of its own, since frames are long. */
static void on_commands(void) {
    static char held[1 << 16];
    static size_t used;
    ssize_t size = read(STDIN_FILENO, held + used, sizeof held - 1 - used);
    if (size == 0)
        exit(0);
    if (size == -1)
        return;
    used += (size_t)size;
    held[used] = '\0';
    char *start = held;
    for (char *stop; (stop = strchr(start, '\n')) != NULL; start = stop + 1) {
        *stop = '\0';
        obey(start);
    }
    used = strlen(start);
    memmove(held, start, used + 1);
}

static void handle(struct end *end) {
    switch (end->kind) {
    case ASKING: on_asking(end); break;
    case LISTENING: accept_all(end); break;
    case ACCEPTED:
        if (!read_lines(end, answer_line))
            drop(&accepted, end);
        break;
    case DATAGRAMS: answer_datagrams(end); break;
    case ECHOES: on_echoes(end); break;
    case HEARING: on_frames(); break;
    case COMMANDS: on_commands(); break;
    }
}

int main(int count_of, char **words) {
    struct rlimit files = {8192, 8192};
    setrlimit(RLIMIT_NOFILE, &files);
    loop = epoll_create1(0);
    frames = malloc(FRAMES * sizeof *frames);
    if (count_of < 2 || loop == -1 || frames == NULL)
        fail("start");
    snprintf(device, sizeof device, "%s", words[1]);
    for (int i = 2; i < count_of; i++) {
        for (int v6 = 0; v6 < 2; v6++) {
            listen_on(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, atoi(words[i]));
            listen_on(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, atoi(words[i]));
        }
    }
    echoes4 = watched(ECHOES, ICMP, socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_ICMP), EPOLLIN);
    echoes6 = watched(ECHOES, ICMP, socket(AF_INET6, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_ICMPV6), EPOLLIN);
    set(echoes4->fd, SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
    set(echoes6->fd, SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
    hearing = hear();
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    watched(COMMANDS, ICMP, STDIN_FILENO, EPOLLIN);
    printf("ready\n");
    for (;;) {
        struct epoll_event event;
        int patience = pass_time();
        fflush(stdout);
        /* One at a time: what one does may end another. */
        if (epoll_wait(loop, &event, 1, patience) == 1)
            handle(event.data.ptr);
    }
}
