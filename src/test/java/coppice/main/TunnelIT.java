package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Tunnels with a real WireGuard at both ends.
class TunnelIT {
    private static final String OFFICE =
            """
            {"slug":"office","vpcs":[{"vpcId":"front",
             "remoteCidrs":["10.20.1.128/28","fd20:1::ff00/120"]}]}
            """;

    private static final String NOBODY = "{\"rules\":[]}";
    private static final String TOKEN = "3c4bd1f8-3d1c-4a41-9e28-4f0c57d4a8b1";
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration CUT = Duration.ofSeconds(2);

    @AutoClose private Installation installation;
    @AutoClose private Internet internet;
    @AutoClose private WireGuardClient client;
    private Client ada;

    @BeforeEach
    void start() {
        installation =
                Installation.start(
                        Map.of(
                                "COPPICE_NETWORK_IPV6",
                                Internet.RANGE,
                                "COPPICE_TUNNEL_HOST",
                                "192.175.48.254",
                                "COPPICE_METRICS_TOKEN",
                                TOKEN));
        internet = new Internet(installation.host());
        ada = installation.client("ada");
    }

    @AfterEach
    void deleteAll() {
        ada.get("/v5/vms").expect(200).requiredObjects("vms").stream()
                .map(vm -> vm.requiredString("id"))
                .forEach(vm -> ada.delete("/v5/vms/" + vm).expect(204));
    }

    @Test
    void aClientReachesWhatItIsAttachedToAndItsConfigurationNeverChanges() {
        var front = network("front", "10.20.1.0/24");
        var back = network("back", "10.20.2.0/24");
        var web = server("front");
        var db = server("back");
        var tunnel =
                ada.post("/v5/tunnels", "{\"slug\":\"office\",\"vpcs\":[{\"vpcId\":\"front\"}]}")
                        .expect(200);
        client = new WireGuardClient(internet, tunnel.requiredString("clientConfig"));
        assertFalse(client.fetches(address(web)));
        allow("tunnelId", tunnel, "vpcId", front);
        allow("tunnelId", tunnel, "vpcId", back);
        assertTrue(client.fetches(address(web)));
        assertTrue(client.fetches(address6(web)));
        assertFalse(client.fetches(address(db)));
        ada.post("/v5/tunnels/office/vpcs/back", "{}").expect(200);
        assertTrue(client.fetches(address(db)));
        assertSeenInMetrics(tunnel, web);
        restart();
        assertTrue(client.fetches(address(web)) && client.fetches(address(db)));
        act(web, "pause");
        act(web, "start");
        assertTrue(client.fetches(address(web)));
        ada.delete("/v5/tunnels/office/vpcs/back").expect(200);
        assertFalse(client.fetches(address(db)));
        assertTrue(client.fetches(address(web)));
        ada.post("/v5/tunnels/office/rotate-key", "{}").expect(200);
        Wait.until(CUT, () -> !client.fetches(address(web)), () -> "the old key still works");
    }

    @Test
    void whatIsBehindAClientIsReachedByRuleAndADeletedTunnelIsGone() {
        ada.post(
                        "/v5/vpcs",
                        "{\"slug\":\"front\",\"cidr\":\"10.20.1.0/24\",\"cidrV6\":\"fd20:1::/64\"}")
                .expect(200);
        var vm = server("front");
        var tunnel = ada.post("/v5/tunnels", OFFICE).expect(200);
        client = new WireGuardClient(internet, tunnel.requiredString("clientConfig"));
        client.add("10.20.1.130/32");
        client.add("fd20:1::ff30/128");
        var own = tunnel.requiredObjects("attachments").getFirst().requiredString("ipv4");
        assertFalse(pings(vm, own) || pings(vm, "10.20.1.130"));
        allow("vmId", vm, "tunnelId", tunnel);
        assertTrue(pings(vm, own));
        assertTrue(pings(vm, "10.20.1.130"));
        assertFalse(pings(vm, "10.20.1.131"));
        Wait.until(SOON, () -> pings(vm, "fd20:1::ff30"), () -> "no way by IPv6");
        assertFalse(pings(vm, "fd20:1::ff31"));
        act(vm, "pause");
        act(vm, "start");
        assertTrue(pings(vm, "fd20:1::ff30"));
        assertFalse(client.fetches(address(vm)));
        ada.delete("/v5/tunnels/office").expect(204);
        Wait.until(CUT, () -> !pings(vm, own), () -> "the tunnel still carries");
        Wait.until(SOON, () -> !routes(vm).contains("fd20:1::ff00"), () -> routes(vm));
        assertTrue(routes(vm).contains("fd20:1::/64"), () -> routes(vm));
        assertEquals(0, ada.get("/v5/firewall/rules").expect(200).requiredInteger("totalCount"));
        assertTrue(installation.networks().stream().noneMatch(name -> name.contains("tun-")));
        act(vm, "pause");
        ada.post("/v5/tunnels", OFFICE).expect(200);
        act(vm, "start");
        assertTrue(routes(vm).contains("fd20:1::ff00"), () -> "told when it woke: " + routes(vm));
    }

    @Test
    void anExitForwardsForAnyDestinationThatAVmsRouteNamesItFor() {
        network("front", "10.20.1.0/24");
        var tunnel =
                ada.post(
                                "/v5/tunnels",
                                "{\"slug\":\"office\",\"vpcs\":[{\"vpcId\":\"front\",\"ipv4\":\"10.20.1.200\",\"exit\":true}]}")
                        .expect(200);
        client = new WireGuardClient(internet, tunnel.requiredString("clientConfig"));
        client.add("192.31.196.1/32");
        var vm =
                ada.post(
                                "/v5/vms",
                                """
                                {"firewall":{"rules":[]},"vpcs":[{"vpcId":"front",
                                 "routes":[{"cidr":"192.31.196.0/24","via":"10.20.1.200"}]}]}
                                """)
                        .expect(200);
        assertFalse(pings(vm, "192.31.196.1"));
        allow("vmId", vm, "tunnelId", tunnel);
        assertTrue(pings(vm, "192.31.196.1"));
        assertFalse(pings(vm, Internet.IPV4));
        restart();
        assertTrue(pings(vm, "192.31.196.1"));
    }

    private void assertSeenInMetrics(JsonObject tunnel, JsonObject vm) {
        var answer = installation.clientWithKey(TOKEN).get("/metrics").response().body();
        var text = new String(answer, StandardCharsets.UTF_8);
        var ofTunnel = "{account=\"ada\",tunnel=\"%s\"} ".formatted(tunnel.requiredString("id"));
        var ofVm = "{vm=\"%s\"} ".formatted(vm.requiredString("id"));
        assertTrue(metric(text, "coppice_tunnel_sent_bytes_total" + ofTunnel) > 500, text);
        assertTrue(metric(text, "coppice_tunnel_received_bytes_total" + ofTunnel) > 500, text);
        assertTrue(metric(text, "coppice_vm_network_sent_bytes_total" + ofVm) > 500, text);
        assertTrue(metric(text, "coppice_vm_network_received_bytes_total" + ofVm) > 500, text);
        var handshake =
                Instant.ofEpochSecond(
                        metric(text, "coppice_tunnel_last_handshake_seconds" + ofTunnel));
        var ago = Duration.between(handshake, Instant.now());
        assertTrue(ago.compareTo(Duration.ofMinutes(3)) < 0 && !ago.isNegative(), text);
    }

    private static long metric(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> Long.parseLong(line.substring(name.length())))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not in " + text));
    }

    private JsonObject network(String slug, String cidr) {
        return ada.post("/v5/vpcs", "{\"slug\":\"%s\",\"cidr\":\"%s\"}".formatted(slug, cidr))
                .expect(200);
    }

    /// A VM with a page in a network.
    private JsonObject server(String network) {
        var vm =
                ada.post(
                                "/v5/vms",
                                "{\"firewall\":%s,\"vpcs\":[{\"vpcId\":\"%s\"}]}"
                                        .formatted(NOBODY, network))
                        .expect(200);
        ada.run(
                vm.requiredString("id"),
                "mkdir -p /www; echo here > /www/page; httpd -p 80 -h /www");
        return vm;
    }

    private void allow(String from, JsonObject source, String to, JsonObject destination) {
        ada.post(
                        "/v5/firewall/rules",
                        "{\"action\":\"allow\",\"source\":{\"%s\":\"%s\"},\"destination\":{\"%s\":\"%s\"}}"
                                .formatted(
                                        from,
                                        source.requiredString("id"),
                                        to,
                                        destination.requiredString("id")))
                .expect(200);
    }

    private String routes(JsonObject vm) {
        return ada.run(vm.requiredString("id"), "ip -6 route");
    }

    private boolean pings(JsonObject vm, String address) {
        var command = "ping -c 1 -W 1 %s >/dev/null 2>&1; echo $?".formatted(address);
        return ada.run(vm.requiredString("id"), command).equals("0");
    }

    private static String address(JsonObject vm) {
        return vm.requiredObjects("vpcs").getFirst().requiredString("ipv4");
    }

    private static String address6(JsonObject vm) {
        return "[%s]".formatted(vm.requiredObjects("vpcs").getFirst().requiredString("ipv6"));
    }

    private void act(JsonObject vm, String act) {
        ada.post("/v5/vms/%s/%s".formatted(vm.requiredString("id"), act), "{}").expect(200);
    }

    private void restart() {
        installation.killServer();
        installation.startServer();
    }
}
