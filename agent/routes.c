/* Owns the platform's routes through the interface. */
#include "netlink.h"
#include "network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct hops {
    struct hop *items;
    size_t count;
};

static int compare(uint32_t a, uint32_t b) {
    return a < b ? -1 : a > b;
}

int route_compare(const struct hop *a, const struct hop *b) {
    int order = memcmp(&a->to, &b->to, sizeof a->to);
    return order != 0 ? order : compare(a->metric, b->metric);
}

int hop_compare(const void *one, const void *other) {
    const struct hop *a = one, *b = other;
    int order = route_compare(a, b);
    if (order == 0)
        order = memcmp(&a->via, &b->via, sizeof a->via);
    if (order == 0)
        order = compare((uint32_t)a->interface, (uint32_t)b->interface);
    return order != 0 ? order : compare(a->is_onlink, b->is_onlink);
}

/* Those that are there */

static bool keep(struct hops *hops, const struct hop *hop) {
    if ((hops->count & (hops->count - 1)) == 0) { /* full at each power of two */
        struct hop *grown = realloc(hops->items, (hops->count == 0 ? 1 : 2 * hops->count) * sizeof *grown);
        if (grown == NULL)
            return false;
        hops->items = grown;
    }
    hops->items[hops->count++] = *hop;
    return true;
}

static void take_gateway(struct hop *hop, const void *gateway, size_t length) {
    hop->via = (struct ip){.family = hop->to.ip.family};
    if (gateway != NULL && length >= ip_size(&hop->via))
        memcpy(hop->via.bytes, gateway, ip_size(&hop->via));
}

/* The hops of a route that has several. */
static bool keep_each(struct hops *hops, struct hop *hop, const uint8_t *at, size_t size) {
    while (size >= sizeof(struct rtnexthop)) {
        const struct rtnexthop *next = (const struct rtnexthop *)at;
        if (next->rtnh_len < sizeof *next || next->rtnh_len > size)
            break;
        size_t length = 0;
        const void *gateway = attribute_find(next + 1, next->rtnh_len - sizeof *next, RTA_GATEWAY, &length);
        take_gateway(hop, gateway, length);
        hop->interface = next->rtnh_ifindex;
        hop->is_onlink = (next->rtnh_flags & RTNH_F_ONLINK) != 0;
        if (!keep(hops, hop))
            return false;
        at += next->rtnh_len;
        size -= next->rtnh_len;
    }
    return true;
}

/* Keeps the hops of one route, if it is the platform's. */
static bool keep_route(struct hops *hops, const struct nlmsghdr *message, uint8_t family) {
    const struct rtmsg *body = message_body(message);
    if (body->rtm_family != family || body->rtm_table != RT_TABLE_MAIN || body->rtm_protocol != PLATFORM_PROTOCOL)
        return true;
    struct hop hop = {.to = {.ip.family = family, .length = body->rtm_dst_len}, .is_onlink = (body->rtm_flags & RTNH_F_ONLINK) != 0};
    size_t size = ip_size(&hop.to.ip), length = 0;
    const void *to = message_find(message, sizeof *body, RTA_DST, size);
    const void *metric = message_find(message, sizeof *body, RTA_PRIORITY, sizeof hop.metric);
    const void *interface = message_find(message, sizeof *body, RTA_OIF, sizeof hop.interface);
    if (to != NULL)
        memcpy(hop.to.ip.bytes, to, size);
    if (metric != NULL)
        memcpy(&hop.metric, metric, sizeof hop.metric);
    if (interface != NULL)
        memcpy(&hop.interface, interface, sizeof hop.interface);
    const void *several = attribute_find(body + 1, message->nlmsg_len - sizeof *message - sizeof *body, RTA_MULTIPATH, &length);
    if (several != NULL)
        return keep_each(hops, &hop, several, length);
    take_gateway(&hop, message_find(message, sizeof *body, RTA_GATEWAY, size), size);
    return keep(hops, &hop);
}

static bool list_routes(const struct interface *interface, uint8_t family, struct hops *hops) {
    struct listing listing;
    struct rtmsg body = {.rtm_family = family, .rtm_protocol = PLATFORM_PROTOCOL};
    if (!netlink_list(interface->netlink, RTM_GETROUTE, &body, sizeof body, &listing))
        return false;
    bool done = true;
    for (const struct nlmsghdr *message = NULL; done && (message = listing_next(&listing, message)) != NULL;)
        done = keep_route(hops, message, family);
    free(listing.bytes);
    if (hops->count > 0)
        qsort(hops->items, hops->count, sizeof *hops->items, hop_compare);
    return done;
}

/* One route: neighbours among hops */

static size_t route_length(const struct hop *hops, const struct hop *end) {
    size_t count = 1;
    while (hops + count < end && route_compare(hops, hops + count) == 0)
        count++;
    return count;
}

static const struct hop *find_route(const struct hops *hops, const struct hop *route) {
    for (size_t i = 0; i < hops->count; i++)
        if (route_compare(&hops->items[i], route) == 0)
            return &hops->items[i];
    return NULL;
}

static bool is_equal(const struct hop *a, size_t a_count, const struct hop *b, size_t b_count) {
    bool equal = a_count == b_count;
    for (size_t i = 0; equal && i < a_count; i++)
        equal = hop_compare(&a[i], &b[i]) == 0;
    return equal;
}

static void begin(struct message *message, uint16_t type, uint16_t flags, const struct hop *route, size_t count) {
    bool is_new = type == RTM_NEWROUTE;
    struct rtmsg body = {
        .rtm_family = route->to.ip.family,
        .rtm_dst_len = route->to.length,
        .rtm_table = RT_TABLE_MAIN,
        .rtm_protocol = PLATFORM_PROTOCOL,
        .rtm_scope = is_new ? RT_SCOPE_UNIVERSE : RT_SCOPE_NOWHERE, /* the latter is any */
        .rtm_type = is_new ? RTN_UNICAST : 0,
        .rtm_flags = count == 1 ? RTNH_F_ONLINK : 0,
    };
    message_begin(message, type, flags, &body, sizeof body);
    if (route->to.length > 0)
        message_put(message, RTA_DST, route->to.ip.bytes, ip_size(&route->to.ip));
    if (route->metric != 0)
        message_put_u32(message, RTA_PRIORITY, route->metric);
}

static bool put_route(const struct interface *interface, uint16_t flags, const struct hop *route, size_t count) {
    struct message message;
    begin(&message, RTM_NEWROUTE, flags, route, count);
    size_t size = ip_size(&route->via);
    if (count == 1) {
        message_put_u32(&message, RTA_OIF, (uint32_t)interface->index);
        message_put(&message, RTA_GATEWAY, route->via.bytes, size);
        return netlink_ask(interface->netlink, &message);
    }
    size_t nest = message_nest(&message, RTA_MULTIPATH);
    for (size_t i = 0; i < count; i++) {
        size_t hop = message_hop(&message, &(struct rtnexthop){.rtnh_flags = RTNH_F_ONLINK, .rtnh_ifindex = interface->index});
        message_put(&message, RTA_GATEWAY, route[i].via.bytes, size);
        message_end(&message, hop);
    }
    message_end(&message, nest);
    return netlink_ask(interface->netlink, &message);
}

static void set_route(const struct interface *interface, const struct hops *present, const struct hop *route, size_t count,
                      struct fault *fault) {
    const struct hop *same = find_route(present, route);
    if (same != NULL && is_equal(same, route_length(same, present->items + present->count), route, count))
        return;
    /* One that is there and not the platform's is the user's own, who wants it so. */
    if (!put_route(interface, NLM_F_CREATE | (same != NULL ? NLM_F_REPLACE : NLM_F_EXCL), route, count) && errno != EEXIST)
        network_failed(fault, "add the route to", prefix_text(&route->to));
}

static void drop_route(const struct interface *interface, const struct hop *route, size_t count, struct fault *fault) {
    bool is_through_it = false;
    for (size_t i = 0; i < count; i++)
        is_through_it |= route[i].interface == interface->index;
    struct message message;
    begin(&message, RTM_DELROUTE, 0, route, 0);
    if (is_through_it && !netlink_ask(interface->netlink, &message) && errno != ESRCH)
        network_failed(fault, "remove the route to", prefix_text(&route->to));
}

static void set_family(const struct interface *interface, const struct network *wanted, uint8_t family, struct fault *fault) {
    struct hops present = {.items = NULL}, all = {.items = wanted->hops, .count = wanted->hop_count};
    if (!list_routes(interface, family, &present)) {
        network_failed(fault, "list the routes of", interface->name);
        free(present.items);
        return;
    }
    const struct hop *end = all.items + all.count, *present_end = present.items + present.count;
    size_t count;
    for (const struct hop *route = all.items; route < end; route += count) {
        count = route_length(route, end);
        if (route->to.ip.family == family)
            set_route(interface, &present, route, count, fault);
    }
    for (const struct hop *route = present.items; route < present_end; route += count) {
        count = route_length(route, present_end);
        if (find_route(&all, route) == NULL)
            drop_route(interface, route, count, fault);
    }
    free(present.items);
}

void routes_set(const struct interface *interface, const struct network *wanted, struct fault *fault) {
    set_family(interface, wanted, AF_INET, fault);
    if (interface->has_ipv6)
        set_family(interface, wanted, AF_INET6, fault);
}
