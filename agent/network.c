/* Owns what a host asks of the network, and the order in which it is done. */
#include "network.h"

#include "netlink.h"
#include "operations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MTU_LEAST 68
#define MTU_MOST 65535
#define TEXTS_LIMIT 1024         /* values of one field */
#define IPV6_METRIC_DEFAULT 1024 /* the kernel's for metric 0 */

void network_failed(struct fault *fault, const char *step, const char *subject) {
    if (fault->code == NULL)
        fault_set(fault, "FAILED", "cannot %s %.60s: %s", step, subject, strerror(errno));
}

/* Reading */

static bool bad(struct fault *fault, const char *field, const char *text, const char *why) {
    return fault_set(fault, "BAD_REQUEST", "the %s '%.60s' %s", field, text, why);
}

static bool read_addresses(const struct texts *texts, struct network *network, struct fault *fault) {
    for (size_t i = 0; i < texts->count; i++) {
        struct prefix *address = &network->addresses[i];
        if (!prefix_read(address, texts->items[i]) || address->length == 0 || ip_is_unspecified(&address->ip))
            return bad(fault, "address", texts->items[i], "is no ADDRESS/LENGTH");
        for (size_t j = 0; j < i; j++)
            if (ip_equals(&network->addresses[j].ip, &address->ip))
                return bad(fault, "address", texts->items[i], "is there twice");
        network->address_count++;
    }
    return true;
}

static bool read_gateways(const struct texts *texts, struct network *network, struct fault *fault) {
    bool has_ipv4 = false, has_ipv6 = false;
    for (size_t i = 0; i < texts->count; i++) {
        struct ip via;
        if (!ip_read(&via, texts->items[i]) || ip_is_unspecified(&via))
            return bad(fault, "gateway", texts->items[i], "is no address");
        bool is_ipv6 = via.family == AF_INET6, *has = is_ipv6 ? &has_ipv6 : &has_ipv4;
        if (*has)
            return bad(fault, "gateway", texts->items[i], "is the second of its family");
        *has = true;
        network->hops[network->hop_count++] = (struct hop){
            .to.ip.family = via.family, .metric = is_ipv6 ? IPV6_METRIC_DEFAULT : 0, .via = via, .is_onlink = true};
    }
    return true;
}

static bool read_route(const char *text, struct hop *hop) {
    char copy[128];
    uint64_t metric;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    char *rest = copy, *to = strsep(&rest, " "), *via = strsep(&rest, " "), *last = strsep(&rest, " ");
    *hop = (struct hop){.is_onlink = true};
    if (last == NULL || rest != NULL || !prefix_read(&hop->to, to) || !prefix_is_network(&hop->to) || !ip_read(&hop->via, via) ||
        ip_is_unspecified(&hop->via) || hop->via.family != hop->to.ip.family || !number_read(&metric, last, UINT32_MAX))
        return false;
    hop->metric = metric == 0 && hop->via.family == AF_INET6 ? IPV6_METRIC_DEFAULT : (uint32_t)metric;
    return true;
}

static bool read_routes(const struct texts *texts, struct network *network, struct fault *fault) {
    for (size_t i = 0; i < texts->count; i++)
        if (!read_route(texts->items[i], &network->hops[network->hop_count++]))
            return bad(fault, "route", texts->items[i], "is no CIDR VIA METRIC");
    qsort(network->hops, network->hop_count, sizeof *network->hops, hop_compare);
    for (size_t i = 1; i < network->hop_count; i++)
        if (hop_compare(&network->hops[i - 1], &network->hops[i]) == 0)
            return bad(fault, "route", prefix_text(&network->hops[i].to), "has a next hop twice");
    return true;
}

static bool check_resolvers(const struct texts *texts, struct fault *fault) {
    for (size_t i = 0; i < texts->count; i++)
        if (!ip_read(&(struct ip){0}, texts->items[i]))
            return bad(fault, "resolver", texts->items[i], "is no address");
    return true;
}

static bool check_numbers(const struct fields *request, struct fault *fault) {
    static const enum tag repeated[] = {TAG_ADDRESS, TAG_GATEWAY, TAG_ROUTE, TAG_RESOLVER};
    const uint8_t *device_address = request->bytes[TAG_DEVICE_ADDRESS];
    if (device_address == NULL || !request->present[TAG_MTU])
        return fault_set(fault, "BAD_REQUEST", "network needs a device address and an mtu");
    if ((device_address[0] & 1) != 0 || memcmp(device_address, (uint8_t[DEVICE_ADDRESS_LENGTH]){0}, DEVICE_ADDRESS_LENGTH) == 0)
        return fault_set(fault, "BAD_REQUEST", "the device address is not that of one device");
    if (request->number[TAG_MTU] < MTU_LEAST || request->number[TAG_MTU] > MTU_MOST)
        return fault_set(fault, "BAD_REQUEST", "the mtu is not from %d to %d", MTU_LEAST, MTU_MOST);
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++)
        if (request->texts[repeated[i]].count > TEXTS_LIMIT)
            return fault_set(fault, "BAD_REQUEST", "field %d has more than %d values", repeated[i], TEXTS_LIMIT);
    return true;
}

/* network_free is due in all cases. */
static bool network_read(const struct fields *request, struct network *network, struct fault *fault) {
    const struct texts *texts = request->texts;
    *network = (struct network){.resolvers = &texts[TAG_RESOLVER]};
    if (!check_numbers(request, fault))
        return false;
    network->device_address = request->bytes[TAG_DEVICE_ADDRESS];
    network->mtu = (uint32_t)request->number[TAG_MTU];
    network->addresses = calloc(texts[TAG_ADDRESS].count + 1, sizeof *network->addresses);
    network->hops = calloc(texts[TAG_GATEWAY].count + texts[TAG_ROUTE].count + 1, sizeof *network->hops);
    if (network->addresses == NULL || network->hops == NULL)
        return fault_set(fault, "FAILED", "out of memory");
    return read_addresses(&texts[TAG_ADDRESS], network, fault) && read_gateways(&texts[TAG_GATEWAY], network, fault) &&
           read_routes(&texts[TAG_ROUTE], network, fault) && check_resolvers(&texts[TAG_RESOLVER], fault);
}

static void network_free(struct network *network) {
    free(network->addresses);
    free(network->hops);
}

/* Doing */

static bool has_ipv6(const struct network *network) {
    for (size_t i = 0; i < network->address_count; i++)
        if (network->addresses[i].ip.family == AF_INET6)
            return true;
    for (size_t i = 0; i < network->hop_count; i++)
        if (network->hops[i].to.ip.family == AF_INET6)
            return true;
    return false;
}

static void network_set(struct network *wanted, struct fault *fault) {
    struct interface interface = {.netlink = netlink_open()};
    if (interface.netlink == -1) {
        network_failed(fault, "open", "netlink");
        return;
    }
    if (interface_find(&interface, fault)) {
        for (size_t i = 0; i < wanted->hop_count; i++)
            wanted->hops[i].interface = interface.index;
        interface_set(&interface, wanted, fault);
        addresses_set(&interface, wanted, fault);
        routes_set(&interface, wanted, fault);
        resolvers_set(wanted->resolvers, fault);
        if (has_ipv6(wanted) && !interface.has_ipv6 && fault->code == NULL)
            fault_set(fault, "FAILED", "the kernel has no IPv6 for %s", interface.name);
    }
    close(interface.netlink);
}

void network_start(struct stream *stream, const struct fields *request) {
    struct outcome outcome = {.has_size = false};
    struct network wanted;
    if (network_read(request, &wanted, &outcome.fault))
        network_set(&wanted, &outcome.fault);
    network_free(&wanted);
    stream_answer(stream, &outcome);
}
