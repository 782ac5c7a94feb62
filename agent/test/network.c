/* Tests of the network's settings, on an interface in a network namespace of the tests. `ip` says what the kernel has. */
#include "support.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEVICE "device 02:00:00:00:00:05\nmtu 1400\n"
#define IPV4 "address 10.20.30.5/24\ngateway 192.0.0.1\nroute 192.168.0.0/16 10.20.30.9 0\n"
#define IPV6 "address fd00:1::5/64\naddress 2001:db8::7/128\ngateway fe80::1\nroute 2001:db8:9::/48 fd00:1::9 0\n"
#define RESOLVERS "resolver 10.20.30.1\nresolver fd00:1::1\n"
#define ALL DEVICE IPV4 IPV6 RESOLVERS

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail("failed: %s", command);
}

/* What a command writes; valid until the fourth call after this one. */
static const char *output(const char *command) {
    static char texts[4][16384];
    static unsigned next;
    char *text = texts[next++ % 4];
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL);
    text[fread(text, 1, sizeof texts[0] - 1, pipe)] = 0;
    pclose(pipe);
    return text;
}

static bool shows(const char *command, const char *text) {
    return strstr(output(command), text) != NULL;
}

#define ADDRESSES "ip -o address show dev eth0"
#define ROUTES "ip route show"
#define IPV6_ROUTES "ip -6 route show"
#define EVERYTHING "ip -d link show; ip address show; ip route show table all; ip -6 route show table all; ip neigh show"

/* An interface eth0 as at the start of a guest: down, and a device as far as the agent can see. False where there cannot be one. */
static bool has_interface(void) {
    if (!has_own_network || access("/proc/sys/net/ipv6", F_OK) == -1 || system("ip link show lo >/dev/null 2>&1") != 0) {
        printf("  (not done: this needs root, IPv6 and the program ip)\n");
        return false;
    }
    shell("ip link del eth0 2>/dev/null; ip link set lo down");
    /* With a lower number, and no device */
    shell("ip link show bridge0 >/dev/null 2>&1 || ip link add bridge0 type veth peer name bridge1");
    shell("ip link add eth0 address 02:00:00:00:00:99 type veth peer name peer0 && ip link set peer0 up");
    file_write("sys/class/net/eth0/device/there", "", 0644);
    file_remove("etc/resolv.conf");
    return true;
}

/* Asks for settings, each a line: the name of a field and its value. */
static struct run *ask(const char *settings) {
    static const struct {
        const char *name;
        enum tag tag;
    } texts[] = {{"address", TAG_ADDRESS}, {"gateway", TAG_GATEWAY}, {"route", TAG_ROUTE}, {"resolver", TAG_RESOLVER}};
    static uint8_t fields[65536];
    uint8_t *at = put_text(fields, TAG_OPERATION, "network"), device[DEVICE_ADDRESS_LENGTH];
    char name[20], value[200];
    for (int length; sscanf(settings, "%19s %199[^\n]%n", name, value, &length) == 2; settings += length) {
        if (sscanf(value, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &device[0], &device[1], &device[2], &device[3], &device[4], &device[5]) == 6 &&
            strcmp(name, "device") == 0)
            at = put_bytes(at, TAG_DEVICE_ADDRESS, device, sizeof device);
        if (strcmp(name, "mtu") == 0)
            at = put_number(at, TAG_MTU, strtoull(value, NULL, 10));
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (strcmp(name, texts[i].name) == 0)
                at = put_text(at, texts[i].tag, value);
    }
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    return run;
}

static void set(const char *settings) {
    struct run *run = ask(settings);
    if (run->code[0] != 0)
        fail("%s: %s", run->code, run->message);
    CHECK(run->answer_length == 0);
}

static void the_network_is_as_asked_for(void) {
    if (!has_interface())
        return;
    set(ALL);
    const char *link = output("ip link show dev eth0"), *addresses = output(ADDRESSES " scope global");
    CHECK(strstr(link, "02:00:00:00:00:05") != NULL && strstr(link, "mtu 1400") != NULL && strstr(link, ",UP") != NULL);
    CHECK(shows("ip link show dev lo", ",UP") && !shows("ip link show dev bridge0", "UP"));
    CHECK(strstr(addresses, "inet 10.20.30.5/24 ") != NULL && strstr(addresses, "inet6 fd00:1::5/64 ") != NULL);
    CHECK(strstr(addresses, "inet6 2001:db8::7/128 ") != NULL && strstr(addresses, "tentative") == NULL);
    CHECK(shows(ROUTES, "default via 192.0.0.1 dev eth0 proto 67 onlink \n"));
    CHECK(shows(ROUTES, "192.168.0.0/16 via 10.20.30.9 dev eth0 proto 67 onlink \n"));
    CHECK(shows(IPV6_ROUTES, "default via fe80::1 dev eth0 proto 67 metric 1024 onlink pref medium\n"));
    CHECK(shows(IPV6_ROUTES, "2001:db8:9::/48 via fd00:1::9 dev eth0 proto 67 metric 1024 onlink pref medium\n"));
    CHECK(shows("cd /proc/sys/net/ipv6/conf/eth0; cat accept_ra autoconf dad_transmits | tr -d '\\n'", "000"));
    const char *resolvers = strchr(file_text("etc/resolv.conf"), '\n');
    CHECK(file_text("etc/resolv.conf")[0] == '#' && strcmp(resolvers, "\nnameserver 10.20.30.1\nnameserver fd00:1::1\n") == 0);
}

/* Until the kernel has given the interface, which has just been brought up, an address of its own. */
static void await_link_local(void) {
    uint64_t begin = test_now_ms();
    while (!shows(ADDRESSES, "inet6 fe80::") || shows(ADDRESSES, "tentative")) {
        CHECK(test_now_ms() - begin < PATIENCE_MS);
        host_step(1);
    }
}

/* A socket that hears of every change from now on: of links, addresses, routes, neighbours and settings. */
static int monitor(void) {
    struct {
        uint16_t family, padding;
        uint32_t pid, groups;
    } everything = {.family = AF_NETLINK, .groups = ~0u};
    await_link_local();
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(fd != -1 && bind(fd, (struct sockaddr *)&everything, sizeof everything) == 0);
    uint8_t bytes[8192];
    while (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 50) == 1) /* what the kernel had begun */
        CHECK(recv(fd, bytes, sizeof bytes, 0) > 0);
    return fd;
}

static bool has_heard(int monitor) {
    uint8_t bytes[8192];
    return recv(monitor, bytes, sizeof bytes, 0) > 0;
}

static void asking_again_changes_nothing(void) {
    if (!has_interface())
        return;
    static const char settings[] = ALL "route 10.9.0.0/16 10.20.30.8 5\nroute 10.9.0.0/16 10.20.30.7 5\n"
                                       "route fd09::/16 fd00:1::8 5\nroute fd09::/16 fd00:1::7 5\nroute fd09::/16 fd00:1::9 5\n";
    set(settings);
    shell("ip neigh add 10.20.30.9 lladdr 02:00:00:00:00:09 dev eth0");
    await_link_local();
    const char *before = output(EVERYTHING);
    ino_t inode = file_inode("etc/resolv.conf");
    int fd = monitor();
    for (int i = 0; i < 3; i++)
        set(settings);
    CHECK(!has_heard(fd) && file_inode("etc/resolv.conf") == inode);
    CHECK(strcmp(before, output(EVERYTHING)) == 0);
    set(DEVICE IPV4 IPV6);
    CHECK(has_heard(fd) && file_inode("etc/resolv.conf") != inode);
    close(fd);
}

static void other_settings_replace_the_old_ones(void) {
    if (!has_interface())
        return;
    set(ALL);
    /* The first address was the one that the kernel takes the new one of its network for an addition to. */
    set("device 02:00:00:00:00:06\nmtu 9000\naddress 10.20.30.6/24\naddress 10.20.30.7/24\ngateway 192.0.0.2\n"
        "address fd00:1::5/80\naddress fd00:2::7/64\ngateway fe80::2\nroute 192.168.0.0/16 10.20.30.9 7\nresolver 1.1.1.1\n");
    const char *addresses = output(ADDRESSES);
    CHECK(strstr(addresses, "10.20.30.5") == NULL && strstr(addresses, "inet 10.20.30.6/24 ") != NULL);
    CHECK(strstr(addresses, "inet 10.20.30.7/24 ") != NULL && strstr(addresses, "inet6 fd00:1::5/80 ") != NULL);
    CHECK(strstr(addresses, "/128") == NULL && strstr(addresses, "inet6 fd00:2::7/64 ") != NULL);
    CHECK(strcmp(output(ROUTES " proto 67"), "default via 192.0.0.2 dev eth0 onlink \n"
                                             "192.168.0.0/16 via 10.20.30.9 dev eth0 metric 7 onlink \n") == 0);
    CHECK(strcmp(output(IPV6_ROUTES " proto 67"), "default via fe80::2 dev eth0 metric 1024 onlink pref medium\n") == 0);
    CHECK(shows("ip link show dev eth0", "02:00:00:00:00:06") && shows("ip link show dev eth0", "mtu 9000"));
    CHECK(strcmp(strchr(file_text("etc/resolv.conf"), '\n'), "\nnameserver 1.1.1.1\n") == 0);
    set(DEVICE);
    CHECK(!shows(ADDRESSES, "scope global") && !shows(ROUTES, "proto 67") && !shows(IPV6_ROUTES, "proto 67"));
    CHECK(strchr(strchr(file_text("etc/resolv.conf"), '\n'), 0)[-1] == '\n' && strstr(file_text("etc/resolv.conf"), "nameserver") == NULL);
}

static void a_copy_has_the_link_local_address_of_its_own_device(void) {
    if (!has_interface())
        return;
    set(DEVICE IPV6);
    await_link_local();
    shell("ip address add fe80::77/64 dev eth0 nodad");
    CHECK(shows(ADDRESSES, "inet6 fe80::ff:fe00:5/64 "));
    set("device 02:00:00:00:00:06\nmtu 1400\n" IPV6);
    const char *addresses = output(ADDRESSES);
    CHECK(strstr(addresses, "inet6 fe80::ff:fe00:6/64 ") != NULL && strstr(addresses, "fe80::ff:fe00:5") == NULL);
    CHECK(strstr(addresses, "inet6 fe80::77/64 ") != NULL && shows(IPV6_ROUTES, "fe80::/64 dev eth0"));
    int fd = monitor();
    set("device 02:00:00:00:00:06\nmtu 1400\n" IPV6);
    CHECK(!has_heard(fd));
    close(fd);
    shell("ip link set eth0 address 02:00:00:00:00:99 && ip address del fe80::ff:fe00:6/64 dev eth0");
    set("device 02:00:00:00:00:06\nmtu 1400\n" IPV6); /* none is made where the user wants none */
    CHECK(!shows(ADDRESSES, "ff:fe00:"));
}

static void what_is_the_users_own_survives(void) {
    if (!has_interface())
        return;
    set(ALL);
    await_link_local();
    shell("ip address add 10.20.30.77/24 dev eth0 && ip address add 172.16.0.1/16 dev eth0 && ip address add fd00:1::77/64 dev eth0 nodad");
    shell("ip route add 10.66.0.0/16 via 10.20.30.66 && ip -6 route add fd66::/16 via fd00:1::66");
    shell("ip route replace default via 10.20.30.66 && ip route add 10.67.0.0/16 via 10.20.30.66"); /* which the platform wants, too */
    set(DEVICE "address 10.20.40.5/24\ngateway 192.0.0.9\nroute 10.67.0.0/16 10.20.40.9 0\n");
    set(DEVICE);
    const char *addresses = output(ADDRESSES), *routes = output(ROUTES);
    CHECK(strstr(addresses, "inet 10.20.30.77/24 ") != NULL && strstr(addresses, "inet 172.16.0.1/16 ") != NULL);
    CHECK(strstr(addresses, "inet6 fd00:1::77/64 ") != NULL && strstr(addresses, "10.20.30.5") == NULL);
    CHECK(strstr(addresses, "fd00:1::5") == NULL && strstr(addresses, "10.20.40.5") == NULL && strstr(addresses, "fe80::") != NULL);
    CHECK(strstr(routes, "10.66.0.0/16 via 10.20.30.66 dev eth0") != NULL && strstr(routes, "default via 10.20.30.66") != NULL);
    CHECK(strstr(routes, "10.67.0.0/16 via 10.20.30.66") != NULL && strstr(routes, "proto 67") == NULL);
    CHECK(shows(IPV6_ROUTES, "fd66::/16 via fd00:1::66"));
    /* What the user has as well is the platform's from when it is asked for. */
    set(DEVICE "address 10.20.30.77/24\naddress fd00:1::77/64\n");
    set(DEVICE);
    CHECK(!shows(ADDRESSES, "10.20.30.77") && !shows(ADDRESSES, "fd00:1::77") && shows(ADDRESSES, "172.16.0.1"));
}

static void routes_to_one_network_are_one_of_several_next_hops(void) {
    if (!has_interface())
        return;
    set(DEVICE IPV4 IPV6 "route 10.9.0.0/16 10.20.30.8 5\nroute 10.9.0.0/16 10.20.30.7 5\nroute 10.9.0.0/16 10.20.30.8 6\n"
                         "route fd09::/16 fd00:1::8 0\nroute fd09::/16 fd00:1::7 1024\n");
    CHECK(strcmp(output(ROUTES " 10.9.0.0/16"), "10.9.0.0/16 proto 67 metric 5 \n\tnexthop via 10.20.30.7 dev eth0 weight 1 onlink \n"
                                                "\tnexthop via 10.20.30.8 dev eth0 weight 1 onlink \n"
                                                "10.9.0.0/16 via 10.20.30.8 dev eth0 proto 67 metric 6 onlink \n") == 0);
    CHECK(strcmp(output(IPV6_ROUTES " fd09::/16"), "fd09::/16 proto 67 metric 1024 pref medium\n"
                                                   "\tnexthop via fd00:1::7 dev eth0 weight 1 onlink \n"
                                                   "\tnexthop via fd00:1::8 dev eth0 weight 1 onlink \n") == 0);
    set(DEVICE IPV4 IPV6 "route 10.9.0.0/16 10.20.30.6 5\nroute 10.9.0.0/16 10.20.30.8 5\nroute fd09::/16 fd00:1::6 1024\n");
    CHECK(strcmp(output(ROUTES " 10.9.0.0/16"), "10.9.0.0/16 proto 67 metric 5 \n\tnexthop via 10.20.30.6 dev eth0 weight 1 onlink \n"
                                                "\tnexthop via 10.20.30.8 dev eth0 weight 1 onlink \n") == 0);
    CHECK(strcmp(output(IPV6_ROUTES " fd09::/16"), "fd09::/16 via fd00:1::6 dev eth0 proto 67 metric 1024 onlink pref medium\n") == 0);
    set(DEVICE IPV4 IPV6 "route 10.9.0.0/16 10.20.30.6 5\nroute fd09::/16 fd00:1::6 0\nroute fd09::/16 fd00:1::5:5 0\n");
    CHECK(strcmp(output(ROUTES " 10.9.0.0/16"), "10.9.0.0/16 via 10.20.30.6 dev eth0 proto 67 metric 5 onlink \n") == 0);
    CHECK(strstr(output(IPV6_ROUTES " fd09::/16"), "nexthop via fd00:1::5:5 ") != NULL);
    set(DEVICE IPV4 IPV6);
    CHECK(!shows(ROUTES, "10.9.") && !shows(IPV6_ROUTES, "fd09::"));
}

static void malformed_settings_change_nothing(void) {
    static const struct {
        const char *settings, *says;
    } refused[] = {
        {"mtu 1400\n" IPV4, "device address"},
        {"device 02:00:00:00:00:06\n" IPV4, "mtu"},
        {"device 00:00:00:00:00:00\nmtu 1400\n", "device address"},
        {"device 03:00:00:00:00:06\nmtu 1400\n", "device address"},
        {"device 02:00:00:00:00:06\nmtu 67\n", "mtu"},
        {"device 02:00:00:00:00:06\nmtu 65536\n", "mtu"},
        {DEVICE "address 10.20.30.6\n", "address '10.20.30.6'"},
        {DEVICE "address 10.20.30.6/\n", "address"},
        {DEVICE "address 10.20.30.6/33\n", "address"},
        {DEVICE "address 10.20.30.6/0\n", "address"},
        {DEVICE "address 10.20.30.6/+8\n", "address"},
        {DEVICE "address 10.20.30.256/24\n", "address"},
        {DEVICE "address 10.20.30/24\n", "address"},
        {DEVICE "address fd00::5/129\n", "address"},
        {DEVICE "address fd00::5::/64\n", "address"},
        {DEVICE "address 0.0.0.0/8\n", "address"},
        {DEVICE "address 10.20.30.6/24\naddress 10.20.30.6/24\n", "twice"},
        {DEVICE "address fd00::6/64\naddress fd00::0:6/128\n", "twice"},
        {DEVICE "gateway here\n", "gateway 'here'"},
        {DEVICE "gateway 192.0.0.1/32\n", "gateway"},
        {DEVICE "gateway 0.0.0.0\n", "gateway"},
        {DEVICE "gateway fe80::1%eth0\n", "gateway"},
        {DEVICE "gateway 192.0.0.1\ngateway 192.0.0.2\n", "gateway"},
        {DEVICE "gateway fe80::1\ngateway fe80::2\n", "gateway"},
        {DEVICE "route 192.168.0.0/16\n", "route '192.168.0.0/16'"},
        {DEVICE "route 192.168.0.0/16 10.20.30.9\n", "route"},
        {DEVICE "route 192.168.0.0/16 10.20.30.9 0 0\n", "route"},
        {DEVICE "route 192.168.0.0/16  10.20.30.9 0\n", "route"},
        {DEVICE "route 192.168.0.0/16 10.20.30.9 -1\n", "route"},
        {DEVICE "route 192.168.0.0/16 10.20.30.9 4294967296\n", "route"},
        {DEVICE "route 192.168.0.1/16 10.20.30.9 0\n", "route"},
        {DEVICE "route 192.168.0.0/33 10.20.30.9 0\n", "route"},
        {DEVICE "route 192.168.0.0/16 fe80::9 0\n", "route"},
        {DEVICE "route fd00::/16 10.20.30.9 0\n", "route"},
        {DEVICE "route fd00::/16 :: 0\n", "route"},
        {DEVICE "route 192.168.0.0/16 10.20.30.9 0\nroute 192.168.0.0/16 10.20.30.9 0\n", "twice"},
        {DEVICE "route fd00::/16 fe80::9 0\nroute fd00::/16 fe80::9 1024\n", "twice"},
        {DEVICE "gateway 192.0.0.1\nroute 0.0.0.0/0 192.0.0.1 0\n", "twice"},
        {DEVICE "resolver example.com\n", "resolver 'example.com'"},
        {DEVICE "resolver 10.0.0.1 10.0.0.2\n", "resolver"},
    };
    if (!has_interface())
        return;
    set(ALL);
    int fd = monitor();
    ino_t inode = file_inode("etc/resolv.conf");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct run *run = ask(refused[i].settings);
        if (!is_fault(run, "BAD_REQUEST") || strstr(run->message, refused[i].says) == NULL)
            fail("'%s' is answered with %s: %s", refused[i].settings, run->code, run->message);
    }
    uint8_t fields[200];
    uint8_t *at = put_number(put_text(fields, TAG_OPERATION, "network"), TAG_MTU, 1400);
    struct run *run = host_open(fields, (size_t)(put_bytes(at, TAG_DEVICE_ADDRESS, "\2\0\0\0\6", 5) - fields));
    host_finish(run);
    CHECK(is_fault(run, "BAD_REQUEST") && strstr(run->message, "device address") != NULL);
    at = put_bytes(put_text(fields, TAG_OPERATION, "network"), TAG_DEVICE_ADDRESS, "\2\0\0\0\0\6", 6);
    run = host_open(fields, (size_t)(put_bytes(at, TAG_MTU, "\0\0\5\0", 4) - fields));
    host_finish(run);
    CHECK(is_fault(run, "BAD_REQUEST"));
    char *many = malloc(1025 * 30 + 100), *end = many + sprintf(many, DEVICE);
    for (int i = 0; i < 1025; i++)
        end += sprintf(end, "address 10.1.%d.%d/32\n", i / 200, 1 + i % 200);
    run = ask(many);
    free(many);
    CHECK(is_fault(run, "BAD_REQUEST") && strstr(run->message, "1024") != NULL);
    CHECK(!has_heard(fd) && file_inode("etc/resolv.conf") == inode);
    close(fd);
}

static void a_link_at_resolv_conf_is_replaced(void) {
    if (!has_interface())
        return;
    set(ALL);
    char text[300];
    snprintf(text, sizeof text, "%s", file_text("etc/resolv.conf"));
    file_write("etc/stub", text, 0644); /* what is wanted: but there is another who writes it */
    file_link("stub", "etc/resolv.conf");
    set(ALL);
    file_write("etc/stub", "nameserver 127.0.0.53\n", 0644);
    CHECK(strcmp(file_text("etc/resolv.conf"), text) == 0);
    file_link("../run/missing/resolv.conf", "etc/resolv.conf");
    file_link("stub", "etc/resolv.conf.new"); /* of an attempt that was cut short */
    set(ALL);
    CHECK(strcmp(file_text("etc/resolv.conf"), text) == 0 && strcmp(file_text("etc/stub"), "nameserver 127.0.0.53\n") == 0);
}

static void the_first_device_is_the_one(void) {
    if (!has_interface())
        return;
    shell("ip link del eth1 2>/dev/null; ip link add eth1 type veth peer name peer1");
    file_write("sys/class/net/eth1/device/there", "", 0644);
    set(DEVICE IPV4);
    CHECK(shows(ADDRESSES, "10.20.30.5") && !shows("ip address show dev eth1", "10.20.30.5"));
    shell("ip link del eth0");
    set(DEVICE IPV4);
    CHECK(shows("ip address show dev eth1", "10.20.30.5"));
    shell("ip link del eth1");
    struct run *run = ask(DEVICE IPV4 RESOLVERS);
    CHECK(is_fault(run, "FAILED") && strstr(run->message, "no network interface") != NULL);
}

static void what_the_kernel_refuses_does_not_stop_the_rest(void) {
    if (!has_interface())
        return;
    struct run *run = ask(ALL "route 10.9.0.0/16 10.20.30.5 0\n"); /* by way of itself */
    CHECK(is_fault(run, "FAILED") && strstr(run->message, "cannot add the route to 10.9.0.0/16: ") != NULL);
    CHECK(shows(ROUTES, "default via 192.0.0.1") && shows(IPV6_ROUTES, "default via fe80::1"));
    CHECK(strstr(file_text("etc/resolv.conf"), "fd00:1::1") != NULL);
    check_usable();
}

static void a_kernel_without_ipv6_fails_only_what_needs_it(void) {
    if (!has_interface())
        return;
    /* An MTU too small for IPv6 has the kernel do without it on the interface. */
    set("device 02:00:00:00:00:05\nmtu 1000\n" IPV4 RESOLVERS);
    CHECK(shows(ROUTES, "default via 192.0.0.1") && access("/proc/sys/net/ipv6/conf/eth0", F_OK) == -1);
    struct run *run = ask("device 02:00:00:00:00:05\nmtu 1000\naddress 10.20.30.6/24\ngateway fe80::1\n");
    CHECK(is_fault(run, "FAILED") && strstr(run->message, "IPv6") != NULL && shows(ADDRESSES, "10.20.30.6"));
    set(ALL);
    CHECK(shows(IPV6_ROUTES, "default via fe80::1"));
}

const struct test network_tests[] = {
    TEST(the_network_is_as_asked_for),
    TEST(asking_again_changes_nothing),
    TEST(other_settings_replace_the_old_ones),
    TEST(a_copy_has_the_link_local_address_of_its_own_device),
    TEST(what_is_the_users_own_survives),
    TEST(routes_to_one_network_are_one_of_several_next_hops),
    TEST(malformed_settings_change_nothing),
    TEST(a_link_at_resolv_conf_is_replaced),
    TEST(the_first_device_is_the_one),
    TEST(what_the_kernel_refuses_does_not_stop_the_rest),
    TEST(a_kernel_without_ipv6_fails_only_what_needs_it),
    {NULL, NULL},
};
