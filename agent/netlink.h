/* rtnetlink, by which the kernel lists and changes links, addresses and routes. Structures, names and numbers are the kernel's; its headers
 * do not come with the C library. A request is answered when it has been sent: nothing here waits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlmsghdr {
    uint32_t nlmsg_len;
    uint16_t nlmsg_type, nlmsg_flags;
    uint32_t nlmsg_seq, nlmsg_pid;
};

struct rtattr {
    uint16_t rta_len, rta_type;
};

struct ifinfomsg {
    uint8_t ifi_family, ifi_padding;
    uint16_t ifi_type;
    int32_t ifi_index;
    uint32_t ifi_flags, ifi_change;
};

struct ifaddrmsg {
    uint8_t ifa_family, ifa_prefixlen, ifa_flags, ifa_scope;
    uint32_t ifa_index;
};

struct rtmsg {
    uint8_t rtm_family, rtm_dst_len, rtm_src_len, rtm_tos, rtm_table, rtm_protocol, rtm_scope, rtm_type;
    uint32_t rtm_flags;
};

struct rtnexthop {
    uint16_t rtnh_len;
    uint8_t rtnh_flags, rtnh_hops;
    int32_t rtnh_ifindex;
};

enum { RTM_NEWLINK = 16, RTM_GETLINK = 18, RTM_NEWADDR = 20, RTM_DELADDR, RTM_GETADDR, RTM_NEWROUTE = 24, RTM_DELROUTE, RTM_GETROUTE };
enum { NLM_F_REPLACE = 0x100, NLM_F_EXCL = 0x200, NLM_F_CREATE = 0x400 };
enum { IFLA_ADDRESS = 1, IFLA_IFNAME = 3, IFLA_MTU = 4 };
enum { IFA_ADDRESS = 1, IFA_LOCAL = 2, IFA_FLAGS = 8, IFA_PROTO = 11 };
enum { IFA_F_NODAD = 2, IFAPROT_KERNEL_LL = 3 };
enum { RTA_DST = 1, RTA_OIF = 4, RTA_GATEWAY = 5, RTA_PRIORITY = 6, RTA_MULTIPATH = 9 };
enum { RT_TABLE_MAIN = 254, RTN_UNICAST = 1, RT_SCOPE_UNIVERSE = 0, RT_SCOPE_NOWHERE = 255, RTNH_F_ONLINK = 4 };

int netlink_open(void); /* -1 with errno */

/* A request that is being written. */
struct message {
    size_t length;
    bool is_too_long;
    _Alignas(8) uint8_t bytes[4096];
};

/* `body` is the structure that belongs to the type. */
void message_begin(struct message *message, uint16_t type, uint16_t flags, const void *body, size_t length);
void message_put(struct message *message, uint16_t attribute, const void *bytes, size_t length);
void message_put_u32(struct message *message, uint16_t attribute, uint32_t value);
/* Each begins what is ended by message_end with the value returned: an attribute that contains what is put until then, or one next hop of
 * RTA_MULTIPATH. */
size_t message_nest(struct message *message, uint16_t attribute);
size_t message_hop(struct message *message, const struct rtnexthop *hop);
void message_end(struct message *message, size_t begun);

/* Has the kernel do it; false with errno. */
bool netlink_ask(int netlink, struct message *message);

/* All that the kernel has of a type, which a body may narrow; false with errno. free() the bytes. */
struct listing {
    uint8_t *bytes;
    size_t length;
};
bool netlink_list(int netlink, uint16_t type, const void *body, size_t length, struct listing *listing);

/* The message after this one, or the first after NULL; NULL after the last. */
const struct nlmsghdr *listing_next(const struct listing *listing, const struct nlmsghdr *message);
/* The structure that belongs to the type. */
const void *message_body(const struct nlmsghdr *message);
/* The value of an attribute after a structure of `body` bytes, which must have `length` bytes at least; else NULL. */
const void *message_find(const struct nlmsghdr *message, size_t body, uint16_t attribute, size_t length);
/* The same among attributes that stand at `at`; with its length. */
const void *attribute_find(const void *at, size_t size, uint16_t attribute, size_t *length);
