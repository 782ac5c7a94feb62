/* IP addresses and prefixes, as text and as bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both are bytes throughout, so that equal ones are equal in memory. */
struct ip {
    uint8_t family; /* AF_INET or AF_INET6 */
    uint8_t bytes[16]; /* in IPv4, zeros after the first four */
};

struct prefix { /* of a network, or an address with the length of its network's prefix */
    struct ip ip;
    uint8_t length;
};

/* False when the text is none. */
bool ip_read(struct ip *ip, const char *text);
bool prefix_read(struct prefix *prefix, const char *text);
bool number_read(uint64_t *number, const char *text, uint64_t most);

size_t ip_size(const struct ip *ip);
bool ip_equals(const struct ip *a, const struct ip *b);
bool ip_is_unspecified(const struct ip *ip);
bool prefix_equals(const struct prefix *a, const struct prefix *b);
/* Whether all after the prefix is zero. */
bool prefix_is_network(const struct prefix *prefix);

/* Valid until the next call. */
const char *prefix_text(const struct prefix *prefix);
