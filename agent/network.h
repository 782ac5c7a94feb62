/* The settings of the guest's first network interface. network.c reads what is asked for and has the order of the steps; each step leaves
 * alone what is right already, and goes on where the kernel refuses something: the first refusal is the fault. */
#pragma once

#include "fault.h"
#include "fields.h"
#include "prefix.h"

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks routes and addresses as the platform's: assigned to no program. What carries another number is the user's. */
#define PLATFORM_PROTOCOL 67

/* One way of a route. Routes are hops in the order of hop_compare: those of one route are neighbours. */
struct hop {
    struct prefix to;
    uint32_t metric;
    struct ip via;
    int interface;
    bool is_onlink; /* the next hop is taken to be there, whatever the addresses say */
};
int route_compare(const struct hop *a, const struct hop *b); /* 0 when they are of one route */
int hop_compare(const void *a, const void *b);                   /* of two hops, for qsort() */

/* What is asked for. */
struct network {
    const uint8_t *device_address;
    uint32_t mtu;
    struct prefix *addresses;
    size_t address_count;
    struct hop *hops; /* whose interface is not known yet */
    size_t hop_count;
    const struct texts *resolvers;
};

struct interface {
    int netlink;
    int index, loopback;
    char name[IFNAMSIZ];
    uint8_t device_address[DEVICE_ADDRESS_LENGTH];
    uint32_t mtu;
    bool is_up, loopback_is_up;
    bool has_ipv6;
};

/* The first Ethernet that is a device; false with the fault when there is none. */
bool interface_find(struct interface *interface, struct fault *fault);

/* The steps */
void interface_set(struct interface *interface, const struct network *wanted, struct fault *fault);
void addresses_set(const struct interface *interface, const struct network *wanted, struct fault *fault);
void routes_set(const struct interface *interface, const struct network *wanted, struct fault *fault);
void resolvers_set(const struct texts *wanted, struct fault *fault);

/* Fails the request by errno, unless it has failed before: "cannot add the address 10.0.0.1/24: Permission denied". */
void network_failed(struct fault *fault, const char *step, const char *subject);
