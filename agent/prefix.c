/* Owns the text of IP addresses. */
#include "prefix.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 10

bool ip_read(struct ip *ip, const char *text) {
    *ip = (struct ip){.family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET};
    return inet_pton(ip->family, text, ip->bytes) == 1;
}

bool number_read(uint64_t *number, const char *text, uint64_t most) {
    size_t length = strlen(text);
    if (length == 0 || length > DIGITS || strspn(text, "0123456789") != length)
        return false;
    *number = strtoull(text, NULL, 10);
    return *number <= most;
}

bool prefix_read(struct prefix *prefix, const char *text) {
    char ip[INET6_ADDRSTRLEN];
    uint64_t length;
    size_t slash = strcspn(text, "/");
    *prefix = (struct prefix){.length = 0};
    if (text[slash] == 0 || slash >= sizeof ip)
        return false;
    memcpy(ip, text, slash);
    ip[slash] = 0;
    if (!ip_read(&prefix->ip, ip) || !number_read(&length, text + slash + 1, 8 * ip_size(&prefix->ip)))
        return false;
    prefix->length = (uint8_t)length;
    return true;
}

size_t ip_size(const struct ip *ip) {
    return ip->family == AF_INET ? 4 : 16;
}

bool ip_equals(const struct ip *a, const struct ip *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

bool ip_is_unspecified(const struct ip *ip) {
    return ip_equals(ip, &(struct ip){.family = ip->family});
}

bool prefix_equals(const struct prefix *a, const struct prefix *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

bool prefix_is_network(const struct prefix *prefix) {
    for (unsigned bit = prefix->length; bit < 8 * ip_size(&prefix->ip); bit++)
        if (prefix->ip.bytes[bit / 8] >> (7 - bit % 8) & 1)
            return false;
    return true;
}

const char *prefix_text(const struct prefix *prefix) {
    static char text[INET6_ADDRSTRLEN + 4];
    char ip[INET6_ADDRSTRLEN] = "";
    inet_ntop(prefix->ip.family, prefix->ip.bytes, ip, sizeof ip);
    snprintf(text, sizeof text, "%s/%u", ip, prefix->length);
    return text;
}
