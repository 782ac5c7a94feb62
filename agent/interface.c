/* Owns the interface itself: which it is, its device address, MTU and sysctls, and that it is up. */
#include "agent.h"
#include "line.h"
#include "netlink.h"
#include "network.h"

#include <errno.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bridges, tunnels and what else the user has made are no devices. */
static bool is_device(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/sys/class/net/%.15s/device", name);
    return access(rooted(path), F_OK) == 0;
}

static void look_at(const struct nlmsghdr *message, struct interface *interface) {
    const struct ifinfomsg *link = message_body(message);
    const char *name = message_find(message, sizeof *link, IFLA_IFNAME, 1);
    const void *device_address = message_find(message, sizeof *link, IFLA_ADDRESS, DEVICE_ADDRESS_LENGTH);
    const void *mtu = message_find(message, sizeof *link, IFLA_MTU, sizeof interface->mtu);
    bool is_up = (link->ifi_flags & IFF_UP) != 0;
    if (link->ifi_flags & IFF_LOOPBACK) {
        interface->loopback = link->ifi_index;
        interface->loopback_is_up = is_up;
        return;
    }
    if (link->ifi_type != ARPHRD_ETHER || name == NULL || device_address == NULL || mtu == NULL || !is_device(name) ||
        (interface->index != 0 && interface->index < link->ifi_index))
        return;
    interface->index = link->ifi_index;
    interface->is_up = is_up;
    snprintf(interface->name, sizeof interface->name, "%s", name);
    memcpy(interface->device_address, device_address, DEVICE_ADDRESS_LENGTH);
    memcpy(&interface->mtu, mtu, sizeof interface->mtu);
}

bool interface_find(struct interface *interface, struct fault *fault) {
    struct listing links;
    if (!netlink_list(interface->netlink, RTM_GETLINK, &(struct ifinfomsg){0}, sizeof(struct ifinfomsg), &links)) {
        network_failed(fault, "list", "the interfaces");
        return false;
    }
    for (const struct nlmsghdr *message = NULL; (message = listing_next(&links, message)) != NULL;)
        look_at(message, interface);
    free(links.bytes);
    return interface->index != 0 || fault_set(fault, "FAILED", "this machine has no network interface");
}

static bool set_attribute(const struct interface *interface, uint16_t attribute, const void *bytes, size_t length, const char *step,
                          struct fault *fault) {
    struct message message;
    message_begin(&message, RTM_NEWLINK, 0, &(struct ifinfomsg){.ifi_index = interface->index}, sizeof(struct ifinfomsg));
    message_put(&message, attribute, bytes, length);
    if (netlink_ask(interface->netlink, &message))
        return true;
    network_failed(fault, step, interface->name);
    return false;
}

static void bring_up(int netlink, int index, const char *name, struct fault *fault) {
    struct message message;
    struct ifinfomsg link = {.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    message_begin(&message, RTM_NEWLINK, 0, &link, sizeof link);
    if (!netlink_ask(netlink, &message))
        network_failed(fault, "bring up", name);
}

static void set_sysctl(const char *family, const char *interface, const char *name, const char *value, struct fault *fault) {
    char path[128], present[32];
    snprintf(path, sizeof path, "/proc/sys/net/%s/conf/%s/%s", family, interface, name);
    if (!(line_read(path, present, sizeof present) && strcmp(present, value) == 0) && !line_write(path, value))
        network_failed(fault, "write", path);
}

static void set_sysctls(const struct interface *interface, struct fault *fault) {
    /* Else the kernel would remove a user's own address along with the platform's that has its prefix. */
    set_sysctl("ipv4", interface->name, "promote_secondaries", "1", fault);
    if (!interface->has_ipv6)
        return;
    set_sysctl("ipv6", interface->name, "accept_ra", "0", fault);
    set_sysctl("ipv6", interface->name, "autoconf", "0", fault);
    set_sysctl("ipv6", interface->name, "dad_transmits", "0", fault);
}

void interface_set(struct interface *interface, const struct network *wanted, struct fault *fault) {
    if (memcmp(interface->device_address, wanted->device_address, DEVICE_ADDRESS_LENGTH) != 0 &&
        set_attribute(interface, IFLA_ADDRESS, wanted->device_address, DEVICE_ADDRESS_LENGTH, "set the device address of", fault))
        memcpy(interface->device_address, wanted->device_address, DEVICE_ADDRESS_LENGTH);
    if (interface->mtu != wanted->mtu)
        set_attribute(interface, IFLA_MTU, &wanted->mtu, sizeof wanted->mtu, "set the mtu of", fault);
    char path[64]; /* which the kernel has when it has IPv6 and the MTU is large enough for it */
    snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s", interface->name);
    interface->has_ipv6 = access(path, F_OK) == 0;
    set_sysctls(interface, fault); /* before it is up: then it never asks for a router */
    if (!interface->is_up)
        bring_up(interface->netlink, interface->index, interface->name, fault);
    if (!interface->loopback_is_up && interface->loopback != 0)
        bring_up(interface->netlink, interface->loopback, "lo", fault);
}
