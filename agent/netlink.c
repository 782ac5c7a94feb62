/* Owns the messages of rtnetlink. */
#include "netlink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NETLINK_ROUTE 0
#define NETLINK_GET_STRICT_CHK 12 /* the kernel narrows a list by the body of its request */
#define NETLINK_LEVEL 270
#define NLMSG_ERROR 2
#define NLMSG_DONE 3
#define NLM_F_REQUEST 1
#define NLM_F_ACK 4
#define NLM_F_DUMP 0x300
#define NLM_F_DUMP_INTR 0x10 /* something changed while the list was made: it may lack what was there all the time */
#define HEADER sizeof(struct nlmsghdr)
#define ATTRIBUTE sizeof(struct rtattr)
#define ATTRIBUTE_TYPE 0x3FFF /* the rest are flags */
#define BUFFER 32768          /* the most that the kernel sends at once */
#define LISTING_LIMIT (16u << 20)
#define TRIES 10

static _Alignas(8) uint8_t received[BUFFER];
static uint32_t sequence;

static size_t aligned(size_t length) {
    return (length + 3) & ~(size_t)3;
}

int netlink_open(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd == -1 || setsockopt(fd, NETLINK_LEVEL, NETLINK_GET_STRICT_CHK, &(int){1}, sizeof(int)) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Writing */

static void *extend(struct message *message, size_t length) {
    if (length > sizeof message->bytes - message->length) {
        message->is_too_long = true;
        return NULL;
    }
    void *at = message->bytes + message->length;
    memset(at, 0, aligned(length));
    message->length += aligned(length);
    return at;
}

void message_begin(struct message *message, uint16_t type, uint16_t flags, const void *body, size_t length) {
    message->length = 0;
    message->is_too_long = false;
    struct nlmsghdr *header = extend(message, HEADER);
    *header = (struct nlmsghdr){.nlmsg_type = type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)};
    memcpy(extend(message, length), body, length);
}

void message_put(struct message *message, uint16_t attribute, const void *bytes, size_t length) {
    struct rtattr *at = extend(message, ATTRIBUTE + length);
    if (at == NULL)
        return;
    *at = (struct rtattr){.rta_len = (uint16_t)(ATTRIBUTE + length), .rta_type = attribute};
    memcpy(at + 1, bytes, length);
}

void message_put_u32(struct message *message, uint16_t attribute, uint32_t value) {
    message_put(message, attribute, &value, sizeof value);
}

size_t message_nest(struct message *message, uint16_t attribute) {
    size_t nest = message->length;
    message_put(message, attribute, "", 0);
    return nest;
}

size_t message_hop(struct message *message, const struct rtnexthop *hop) {
    size_t start = message->length;
    struct rtnexthop *at = extend(message, sizeof *hop);
    if (at != NULL)
        *at = *hop;
    return start;
}

/* A nest and a next hop both begin with their length. */
void message_end(struct message *message, size_t begun) {
    if (!message->is_too_long)
        *(uint16_t *)(message->bytes + begun) = (uint16_t)(message->length - begun);
}

/* Asking */

static bool send_message(int netlink, struct message *message) {
    if (message->is_too_long) {
        errno = EMSGSIZE;
        return false;
    }
    struct nlmsghdr *header = (struct nlmsghdr *)message->bytes;
    header->nlmsg_len = (uint32_t)message->length;
    header->nlmsg_seq = ++sequence;
    return send(netlink, message->bytes, message->length, 0) == (ssize_t)message->length;
}

/* The next messages, which are there already: the kernel answers before send() returns, and goes on with a list within recv(). */
static ssize_t receive(int netlink) {
    ssize_t length = recv(netlink, received, sizeof received, MSG_DONTWAIT | MSG_TRUNC);
    if (length <= (ssize_t)sizeof received)
        return length;
    errno = EMSGSIZE;
    return -1;
}

static bool is_whole(const struct nlmsghdr *header, size_t rest) {
    return rest >= HEADER && header->nlmsg_len >= HEADER && header->nlmsg_len <= rest;
}

/* Of NLMSG_ERROR and NLMSG_DONE. */
static bool succeeds(const struct nlmsghdr *header) {
    int32_t error = 0;
    if (header->nlmsg_len >= HEADER + sizeof error)
        memcpy(&error, header + 1, sizeof error);
    errno = -error;
    return error == 0;
}

bool netlink_ask(int netlink, struct message *message) {
    ((struct nlmsghdr *)message->bytes)->nlmsg_flags |= NLM_F_ACK;
    if (!send_message(netlink, message))
        return false;
    for (ssize_t length; (length = receive(netlink)) != -1;) {
        const struct nlmsghdr *header = (const struct nlmsghdr *)received;
        if (is_whole(header, (size_t)length) && header->nlmsg_type == NLMSG_ERROR && header->nlmsg_seq == sequence)
            return succeeds(header);
    }
    return false;
}

static bool keep(struct listing *listing, const struct nlmsghdr *header) {
    size_t length = aligned(header->nlmsg_len);
    uint8_t *grown = length <= LISTING_LIMIT - listing->length ? realloc(listing->bytes, listing->length + length) : NULL;
    if (grown == NULL) {
        errno = ENOMEM;
        return false;
    }
    memcpy(grown + listing->length, header, header->nlmsg_len);
    listing->bytes = grown;
    listing->length += length;
    return true;
}

/* Receives one list up to its end. */
static bool gather(int netlink, struct listing *listing, bool *interrupted) {
    for (ssize_t length; (length = receive(netlink)) != -1;) {
        for (size_t at = 0; is_whole((const struct nlmsghdr *)(received + at), (size_t)length - at);) {
            const struct nlmsghdr *header = (const struct nlmsghdr *)(received + at);
            at += aligned(header->nlmsg_len) < (size_t)length - at ? aligned(header->nlmsg_len) : (size_t)length - at;
            if (header->nlmsg_seq != sequence)
                continue; /* of a list that was given up */
            *interrupted |= (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
            if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
                return succeeds(header);
            if (!keep(listing, header))
                return false;
        }
    }
    return false;
}

bool netlink_list(int netlink, uint16_t type, const void *body, size_t length, struct listing *listing) {
    for (int i = 0; i < TRIES; i++) {
        struct message message;
        bool interrupted = false;
        *listing = (struct listing){.bytes = NULL};
        message_begin(&message, type, NLM_F_DUMP, body, length);
        bool done = send_message(netlink, &message) && gather(netlink, listing, &interrupted);
        if (done && !interrupted)
            return true;
        int error = done ? EAGAIN : errno;
        free(listing->bytes);
        errno = error;
        if (!done)
            return false;
    }
    return false;
}

/* Reading */

const struct nlmsghdr *listing_next(const struct listing *listing, const struct nlmsghdr *message) {
    size_t at = message == NULL ? 0 : (size_t)((const uint8_t *)message - listing->bytes) + aligned(message->nlmsg_len);
    return at < listing->length ? (const struct nlmsghdr *)(listing->bytes + at) : NULL;
}

const void *message_body(const struct nlmsghdr *message) {
    return message + 1;
}

const void *attribute_find(const void *at, size_t size, uint16_t attribute, size_t *length) {
    const uint8_t *next = at;
    while (size >= ATTRIBUTE) {
        const struct rtattr *found = (const struct rtattr *)next;
        if (found->rta_len < ATTRIBUTE || found->rta_len > size)
            return NULL;
        if ((found->rta_type & ATTRIBUTE_TYPE) == attribute) {
            *length = found->rta_len - ATTRIBUTE;
            return found + 1;
        }
        size_t step = aligned(found->rta_len) < size ? aligned(found->rta_len) : size;
        next += step;
        size -= step;
    }
    return NULL;
}

const void *message_find(const struct nlmsghdr *message, size_t body, uint16_t attribute, size_t length) {
    size_t size = 0;
    const void *value = message->nlmsg_len < HEADER + body
                            ? NULL
                            : attribute_find((const uint8_t *)(message + 1) + body, message->nlmsg_len - HEADER - body, attribute, &size);
    return size >= length ? value : NULL;
}
