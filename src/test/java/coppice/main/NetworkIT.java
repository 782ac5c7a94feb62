package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Networks as real guests have them.
class NetworkIT {
    private static final String NOBODY = "{\"rules\":[]}";
    private static final String WEB =
            "{\"action\":\"allow\",\"source\":{\"vmId\":\"%s\"},\"destination\":{\"public\":true,\"port\":80,\"protocol\":\"tcp\"}}";

    /// A page that says who asks for it.
    private static final String ASK = "wget -q -T 2 -O - http://%s/cgi-bin/who";

    @AutoClose private Installation installation;
    @AutoClose private Internet internet;
    private Client ada;

    @BeforeEach
    void start() {
        installation = Installation.start(Map.of("COPPICE_NETWORK_IPV6", Internet.RANGE));
        internet = new Internet(installation.host());
        ada = installation.client("ada");
    }

    @AfterEach
    void deleteAll() {
        for (var client : List.of(ada, installation.client("bob"))) {
            client.get("/v5/vms").expect(200).requiredObjects("vms").stream()
                    .map(vm -> vm.requiredString("id"))
                    .forEach(vm -> client.delete("/v5/vms/" + vm).expect(204));
        }
    }

    @Test
    void aGuestReachesTheInternetWithARuleAndOnlyThen() {
        var vm = create(ada, NOBODY);
        assertEquals("", output(ada, vm, ASK.formatted(Internet.IPV4)));
        var rule =
                ada.post("/v5/firewall/rules", WEB.formatted(id(vm)))
                        .expect(200)
                        .requiredString("id");
        assertEquals("192.175.48.254", output(ada, vm, ASK.formatted(Internet.IPV4)));
        assertEquals(
                vm.requiredString("publicIpv6"),
                output(ada, vm, ASK.formatted("[" + Internet.IPV6 + "]")));
        ada.delete("/v5/firewall/rules/" + rule).expect(204);
        assertEquals("", output(ada, vm, ASK.formatted(Internet.IPV4)));
        assertEquals("", output(ada, vm, ASK.formatted("[" + Internet.IPV6 + "]")));
    }

    @Test
    void whateverTheRulesSayTheHostTheMetadataAndOtherTenantsStayClosed() {
        var bob = installation.client("bob");
        var everything =
                """
                {"rules":[{"action":"allow","source":{},"destination":{"cidr":"0.0.0.0/0"}},
                 {"action":"allow","source":{},"destination":{"cidr":"::/0"}},
                 {"action":"allow","source":{},"destination":{"public":true}},
                 {"action":"allow","source":{"cidr":"0.0.0.0/0"},"destination":{}},
                 {"action":"allow","source":{"cidr":"::/0"},"destination":{}}]}
                """;
        var own = create(ada, everything);
        var other = create(bob, NOBODY);
        output(bob, other, "mkdir -p /www; httpd -p 80 -h /www; httpd -p 7480 -h /www");
        assertEquals("192.175.48.254", output(ada, own, ASK.formatted(Internet.IPV4)));
        for (var closed :
                List.of(
                        installation.address() + ":" + installation.port(),
                        "100.96.255.254:" + installation.port(),
                        "100.96.255.253:80",
                        "100.96.0.1:80",
                        "100.96.0.2:80",
                        "169.254.169.254:" + installation.port(),
                        "169.254.0.1:" + installation.port(),
                        "192.0.0.1:80",
                        "127.0.0.1:7480",
                        "[%s]:80".formatted(other.requiredString("publicIpv6")),
                        "[fe80::1%eth0]:80")) {
            var reached =
                    "wget -T 1 -O /dev/null http://%s/ 2>&1 | grep -c 'HTTP/1\\|server returned\\|saved'";
            assertEquals("0", output(ada, own, reached.formatted(closed)), closed);
        }
    }

    @Test
    void membersOfANetworkMeetByItsRulesThroughPauseAndRestart() {
        var vpc =
                ada.post(
                                "/v5/vpcs",
                                "{\"slug\":\"back\",\"cidr\":\"10.20.30.0/24\",\"cidrV6\":\"fd00:1:2:3::/64\"}")
                        .expect(200)
                        .requiredString("id");
        var place = ",\"vpcs\":[{\"vpcId\":\"back\"}]";
        var web = create(ada, NOBODY, place);
        var db = create(ada, NOBODY, place.replace("}", ",\"ipv4\":\"10.20.30.77\"}"));
        var seen = db.requiredObjects("vpcs").getFirst();
        assertEquals(vpc, seen.requiredString("vpcId"));
        assertEquals("10.20.30.77", seen.requiredString("ipv4"));
        output(ada, db, "mkdir -p /www; echo kept > /www/page; httpd -p 80 -h /www");
        var page = "wget -q -T 2 -O - http://10.20.30.77/page";
        assertEquals("", output(ada, web, page));
        ada.post(
                        "/v5/firewall/rules",
                        """
                        {"action":"allow","source":{"vpcId":"back"},
                         "destination":{"vmId":"%s","port":80,"protocol":"tcp"}}
                        """
                                .formatted(id(db)))
                .expect(200);
        assertEquals("kept", output(ada, web, page));
        assertEquals(
                "kept",
                output(
                        ada,
                        web,
                        "wget -q -T 2 -O - http://[%s]/page"
                                .formatted(seen.requiredString("ipv6"))));
        act(db, "pause");
        assertEquals("", output(ada, web, page));
        act(db, "start");
        assertEquals("kept", output(ada, web, page));
        restart();
        assertEquals("kept", output(ada, web, page));
        ada.delete("/v5/vpcs/back").expect(409, "CONFLICT");
    }

    private void restart() {
        installation.killServer();
        installation.startServer();
    }

    @Test
    void membersOfANetworkFindEachOtherByNameAndNobodyElseDoes() {
        ada.post("/v5/vpcs", "{\"slug\":\"back\",\"cidr\":\"10.20.30.0/24\"}").expect(200);
        var place = ",\"slug\":\"%s\",\"vpcs\":[{\"vpcId\":\"back\",\"ipv4\":\"10.20.30.7%d\"}]";
        var web = create(ada, NOBODY, place.formatted("web", 1));
        var db = create(ada, NOBODY, place.formatted("db", 2));
        var alone = create(ada, NOBODY, ",\"slug\":\"alone\"");
        var ask = "nslookup %s | sed -n 's/^Address: *//p' | grep -v :53";
        assertEquals("10.20.30.72", output(ada, web, ask.formatted("db") + " | grep 10."));
        assertEquals("10.20.30.72", output(ada, web, ask.formatted("db.internal") + " | grep 10."));
        assertEquals("10.20.30.71", output(ada, db, ask.formatted(id(web)) + " | grep 10."));
        assertEquals("", output(ada, alone, ask.formatted("db")));
        assertEquals("", output(ada, web, ask.formatted("alone")));
        ada.delete("/v5/vms/db").expect(204);
        assertEquals("", output(ada, web, ask.formatted("db")));
    }

    @Test
    void aCopyHasAddressesOfItsOwnAndWhoListensIsStillHeardAfterAResume() {
        var vm =
                create(
                        ada,
                        """
                        {"rules":[{"action":"allow","source":{"public":true},
                         "destination":{"port":80,"protocol":"tcp"}}]}
                        """);
        output(ada, vm, "mkdir -p /www; echo here > /www/page; httpd -p 80 -h /www");
        var address = vm.requiredString("publicIpv6");
        assertEquals(0, internet.fetch(address));
        act(vm, "pause");
        assertNotEquals(0, internet.fetch(address));
        act(vm, "start");
        assertEquals(0, internet.fetch(address));
        var forked = ada.post("/v5/vms/%s/fork".formatted(id(vm)), "{\"count\":2}").expect(200);
        var addresses = new HashSet<>(Set.of(address));
        for (var copy : forked.requiredObjects("vms")) {
            assertTrue(addresses.add(copy.requiredString("publicIpv6")));
            assertNotEquals(0, internet.fetch(copy.requiredString("publicIpv6")));
            ada.post("/v5/firewall/rules", WEB.formatted(id(copy))).expect(200);
            assertEquals(
                    copy.requiredString("publicIpv6"),
                    output(ada, copy, ASK.formatted("[" + Internet.IPV6 + "]")));
            assertEquals("192.175.48.254", output(ada, copy, ASK.formatted(Internet.IPV4)));
        }
        assertEquals(0, internet.fetch(address));
    }

    @Test
    void nothingIsLeftOfWhatIsGone() {
        var vm = create(ada, NOBODY);
        ada.post("/v5/vpcs", "{\"slug\":\"net\"}").expect(200);
        var member = create(ada, NOBODY, ",\"networks\":[{\"vpc\":\"net\"}]");
        assertEquals(3, installation.networks().size());
        act(vm, "pause");
        ada.delete("/v5/vms/" + id(member)).expect(204);
        assertEquals(1, installation.networks().size());
        act(vm, "start");
        installation.killServer();
        installation.makeNetwork("vm-00000000000000000000");
        var sick = installation.tryProgram("doctor").output();
        assertTrue(sick.contains("network of vm-00000000000000000000"), sick);
        assertTrue(sick.lines().anyMatch(line -> line.matches("network +ok .*")), sick);
        installation.startServer();
        assertEquals(2, installation.networks().size());
        ada.delete("/v5/vms/" + id(vm)).expect(204);
        assertEquals(1, installation.networks().size());
    }

    @Test
    void aVmWhosePacketsPassIsNotIdle() {
        var vm =
                create(
                        ada,
                        "{\"rules\":[{\"action\":\"allow\",\"source\":{},\"destination\":{\"public\":true}}]}",
                        ",\"idleTimeoutSeconds\":3");
        output(
                ada,
                vm,
                "(for i in 1 2 3 4 5 6 7 8; do %s; sleep 1; done) >/dev/null 2>&1 & true"
                        .formatted(ASK.formatted(Internet.IPV4)));
        var begun = Instant.now();
        Wait.until(
                Duration.ofSeconds(60),
                () -> ada.state(id(vm)).equals("paused"),
                () -> "it is not paused");
        assertTrue(
                Duration.between(begun, Instant.now()).toSeconds() >= 8,
                "it was paused while it asked for pages");
    }

    private static JsonObject create(Client client, String firewall) {
        return create(client, firewall, "");
    }

    private static JsonObject create(Client client, String firewall, String more) {
        return client.post("/v5/vms", "{\"firewall\":%s%s}".formatted(firewall, more)).expect(200);
    }

    private void act(JsonObject vm, String act) {
        ada.post("/v5/vms/%s/%s".formatted(id(vm), act), "{}").expect(200);
    }

    private static String id(JsonObject vm) {
        return vm.requiredString("id");
    }

    /// What a command says; what it complains of is left out.
    private static String output(Client client, JsonObject vm, String command) {
        return client.post(
                        "/v5/vms/%s/exec-await".formatted(id(vm)),
                        Client.exec(command + " 2>/dev/null"))
                .expect(200)
                .requiredString("stdout")
                .strip();
    }
}
