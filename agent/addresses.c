/* Owns the addresses of the interface. */
#include "netlink.h"
#include "network.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>

struct address {
    struct prefix prefix;
    uint8_t owner, scope;
};

/* From 5.18 on the kernel keeps whose an address is. To one before, all that reach beyond the link are the platform's. */
static bool kernel_knows_owners(void) {
    struct utsname kernel;
    unsigned major = 0, minor = 0;
    return uname(&kernel) == 0 && sscanf(kernel.release, "%u.%u", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 18));
}

static bool is_ours(const struct address *address) {
    return kernel_knows_owners() ? address->owner == PLATFORM_PROTOCOL : address->scope == RT_SCOPE_UNIVERSE;
}

/* Whether the kernel takes them for one address: in IPv6 an interface has no address twice, whatever the prefix. */
static bool is_same(const struct prefix *a, const struct prefix *b) {
    return ip_equals(&a->ip, &b->ip) && (a->ip.family == AF_INET6 || a->length == b->length);
}

static const struct prefix *find_wanted(const struct network *wanted, const struct prefix *address) {
    for (size_t i = 0; i < wanted->address_count; i++)
        if (is_same(&wanted->addresses[i], address))
            return &wanted->addresses[i];
    return NULL;
}

/* The next one of the interface and family after the message at hand. */
static bool next_address(const struct listing *listing, const struct interface *interface, uint8_t family,
                         const struct nlmsghdr **message, struct address *address) {
    while ((*message = listing_next(listing, *message)) != NULL) {
        const struct ifaddrmsg *body = message_body(*message);
        *address = (struct address){.prefix = {.ip.family = family, .length = body->ifa_prefixlen}, .scope = body->ifa_scope};
        size_t size = ip_size(&address->prefix.ip);
        const void *ip = message_find(*message, sizeof *body, IFA_LOCAL, size);
        if (ip == NULL)
            ip = message_find(*message, sizeof *body, IFA_ADDRESS, size);
        if (body->ifa_family != family || body->ifa_index != (uint32_t)interface->index || ip == NULL)
            continue;
        memcpy(address->prefix.ip.bytes, ip, size);
        const uint8_t *owner = message_find(*message, sizeof *body, IFA_PROTO, 1);
        address->owner = owner != NULL ? *owner : 0;
        return true;
    }
    return false;
}

static bool ask(const struct interface *interface, uint16_t type, const struct prefix *address, uint8_t owner) {
    struct message message;
    struct ifaddrmsg body = {
        .ifa_family = address->ip.family, .ifa_prefixlen = address->length, .ifa_index = (uint32_t)interface->index};
    message_begin(&message, type, type == RTM_NEWADDR ? NLM_F_CREATE | NLM_F_REPLACE : 0, &body, sizeof body);
    message_put(&message, IFA_LOCAL, address->ip.bytes, ip_size(&address->ip));
    message_put(&message, IFA_ADDRESS, address->ip.bytes, ip_size(&address->ip));
    if (type == RTM_NEWADDR) {
        message_put(&message, IFA_PROTO, &owner, 1);
        if (address->ip.family == AF_INET6)
            message_put_u32(&message, IFA_FLAGS, IFA_F_NODAD);
    }
    return netlink_ask(interface->netlink, &message);
}

static void add(const struct interface *interface, const struct prefix *address, uint8_t owner, struct fault *fault) {
    if (!ask(interface, RTM_NEWADDR, address, owner))
        network_failed(fault, "add the address", prefix_text(address));
}

static void drop(const struct interface *interface, const struct prefix *address, struct fault *fault) {
    if (!ask(interface, RTM_DELADDR, address, 0) && errno != EADDRNOTAVAIL)
        network_failed(fault, "remove the address", prefix_text(address));
}

static bool is_right(const struct listing *listing, const struct interface *interface, const struct prefix *wanted) {
    struct address address;
    for (const struct nlmsghdr *message = NULL; next_address(listing, interface, wanted->ip.family, &message, &address);)
        if (prefix_equals(&address.prefix, wanted))
            return address.owner == PLATFORM_PROTOCOL || !kernel_knows_owners();
    return false;
}

/* A copy's first one is made of the device address of what it was copied from, and two machines of one network must not have the same.
 * The kernel makes another only for an interface that comes up. */
static void renew_link_local(const struct interface *interface, const struct address *present, struct fault *fault) {
    const uint8_t *device = interface->device_address, *bytes = present->prefix.ip.bytes;
    struct prefix own = {.ip = {.family = AF_INET6, .bytes = {0xFE, 0x80}}, .length = 64};
    const uint8_t half[] = {device[0] ^ 2, device[1], device[2], 0xFF, 0xFE, device[3], device[4], device[5]};
    memcpy(own.ip.bytes + sizeof own.ip.bytes - sizeof half, half, sizeof half);
    bool is_made_of_a_device = present->owner == IFAPROT_KERNEL_LL && bytes[11] == 0xFF && bytes[12] == 0xFE;
    if (!is_made_of_a_device || prefix_equals(&present->prefix, &own))
        return;
    add(interface, &own, IFAPROT_KERNEL_LL, fault);
    drop(interface, &present->prefix, fault);
}

static void set_family(const struct interface *interface, const struct network *wanted, uint8_t family, struct fault *fault) {
    struct listing listing;
    struct address address;
    struct ifaddrmsg body = {.ifa_family = family, .ifa_index = (uint32_t)interface->index};
    if (!netlink_list(interface->netlink, RTM_GETADDR, &body, sizeof body, &listing)) {
        network_failed(fault, "list the addresses of", interface->name);
        return;
    }
    const struct nlmsghdr *message = NULL;
    while (next_address(&listing, interface, family, &message, &address)) {
        const struct prefix *same = find_wanted(wanted, &address.prefix);
        if (same != NULL && same->length != address.prefix.length)
            drop(interface, &address.prefix, fault);
    }
    for (size_t i = 0; i < wanted->address_count; i++)
        if (wanted->addresses[i].ip.family == family && !is_right(&listing, interface, &wanted->addresses[i]))
            add(interface, &wanted->addresses[i], PLATFORM_PROTOCOL, fault);
    /* Last: with the last IPv4 address of an interface go its routes, the user's too. */
    while (next_address(&listing, interface, family, &message, &address)) {
        if (is_ours(&address) && find_wanted(wanted, &address.prefix) == NULL)
            drop(interface, &address.prefix, fault);
        renew_link_local(interface, &address, fault);
    }
    free(listing.bytes);
}

void addresses_set(const struct interface *interface, const struct network *wanted, struct fault *fault) {
    set_family(interface, wanted, AF_INET, fault);
    if (interface->has_ipv6)
        set_family(interface, wanted, AF_INET6, fault);
}
