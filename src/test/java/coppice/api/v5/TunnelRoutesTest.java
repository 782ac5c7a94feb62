package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.json.JsonObject;
import coppice.network.GivenTunnels;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TunnelRoutesTest {
    private static final String KEY = "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0=";

    @TempDir private Path directory;
    private GivenTunnels given;
    private ApiCaller ada;
    private ApiCaller bob;

    @BeforeEach
    void open() {
        given = new GivenTunnels(directory);
        ada =
                new ApiCaller(
                        new TunnelRoutes(given.networks(), given.tunnels()).routes(),
                        given.ada().uuid());
        bob = ada.as(given.bob().uuid());
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aCreateMintsAPairAndItsConfigurationIsWhole() {
        var made = ada.post("/v5/tunnels", "{}").expect(200);
        assertEquals(
                Set.of(
                        "id",
                        "tunnelId",
                        "clientConfig",
                        "endpointHost",
                        "endpointPort",
                        "clientPublicKey",
                        "serverPublicKey",
                        "clientAddressV4",
                        "clientAddressV6",
                        "routes",
                        "attachments",
                        "createdAt",
                        "updatedAt",
                        "clientPrivateKey"),
                made.fields());
        var privateKey = made.requiredString("clientPrivateKey");
        assertEquals(44, privateKey.length());
        assertTrue(config(made).startsWith("[Interface]\nPrivateKey = " + privateKey + "\n"));
        assertEquals(made.requiredString("id"), made.requiredString("tunnelId"));
        assertEquals(given.serverKey().text(), made.requiredString("serverPublicKey"));
        long port = made.requiredInteger("endpointPort");
        assertTrue(port >= 51_820 && port <= 52_843, port + " is in the configured range");
        assertEquals(List.of("10.0.0.0/8", "fd00::/8"), made.strings("routes").orElseThrow());
        assertEquals(List.of(), made.requiredObjects("attachments"));
        assertEquals("2026-03-01T09:30:00.000Z", made.requiredString("createdAt"));
    }

    private static String config(JsonObject tunnel) {
        return tunnel.requiredString("clientConfig");
    }

    @Test
    void aCreateWithAPublicKeyLeavesThePrivateOneBlank() {
        var made =
                ada.post(
                                "/v5/tunnels",
                                """
                                {"slug": "office", "displayName": "Office", "clientPublicKey": "%s", "routes": ["192.168.0.0/16"],
                                 "more": 1}
                                """
                                        .formatted(KEY))
                        .expect(200);
        assertEquals("", made.requiredString("clientPrivateKey"));
        assertEquals(KEY, made.requiredString("clientPublicKey"));
        assertEquals("Office", made.requiredString("displayName"));
        assertTrue(config(made).startsWith("[Interface]\nPrivateKey = \n"));
        assertTrue(config(made).contains("\nAllowedIPs = 192.168.0.0/16\n"));
    }

    @Test
    void nullAndEmptyNamesAreAsIfNotSent() {
        var made =
                ada.post(
                                "/v5/tunnels",
                                """
                                {"slug": "", "displayName": "", "clientPublicKey": null, "routes": null, "vpcs": null}
                                """)
                        .expect(200);
        assertTrue(!made.has("slug") && !made.has("displayName"));
        assertEquals(2, made.strings("routes").orElseThrow().size());
    }

    @Test
    void aCreateAttachesByIdSlugAndOldName() {
        var backend = given.network("backend", "10.20.30.0/24");
        given.network("other", "10.20.31.0/24");
        given.network("third", "10.20.32.0/24");
        var made =
                ada.post(
                                "/v5/tunnels",
                                """
                                {"vpcs": [{"vpcId": "%s", "remoteCidrs": ["10.99.0.0/16", "10.20.30.128/25"], "exit": true},
                                          {"vpcId": "other", "ipv4": "10.20.31.7"}, {"vpc": "third", "exit": false}]}
                                """
                                        .formatted(backend.id()))
                        .expect(200);
        var places = made.requiredObjects("attachments");
        assertEquals(3, places.size());
        var first =
                places.stream()
                        .filter(p -> p.requiredString("vpcId").equals(backend.id().text()))
                        .findFirst()
                        .orElseThrow();
        assertEquals(
                List.of("10.99.0.0/16", "10.20.30.128/25"),
                first.strings("remoteCidrs").orElseThrow());
        assertEquals(true, first.requiredBool("exit"));
        assertEquals("10.20.30.1", first.requiredString("address"));
        assertEquals(first.string("ipv6"), first.string("secondaryAddress"));
        places.stream()
                .filter(p -> p != first)
                .forEach(p -> assertTrue(!p.has("exit") && !p.has("remoteCidrs")));
    }

    @Test
    void aPrivateKeyIsInTheAnswerThatMintedItAndInNoOther() {
        given.network("backend", "10.20.30.0/24");
        var key =
                ada.post(
                                "/v5/tunnels",
                                "{\"slug\": \"office\", \"vpcs\": [{\"vpc\": \"backend\"}]}")
                        .expect(200)
                        .requiredString("clientPrivateKey");
        for (var answer :
                List.of(
                        ada.get("/v5/tunnels/office"),
                        ada.get("/v5/tunnels"),
                        ada.get("/v5/vpcs/backend/tunnels"),
                        ada.patch("/v5/tunnels/office", "{\"displayName\": \"Office\"}"),
                        ada.delete("/v5/tunnels/office/vpcs/backend"),
                        ada.post("/v5/tunnels/office/vpcs/backend", ""))) {
            answer.expect(200);
            assertTrue(!answer.text().contains(key), answer.text());
            assertTrue(!answer.text().contains("clientPrivateKey"), answer.text());
            assertTrue(answer.text().contains("PrivateKey = \\n"), answer.text());
        }
    }

    @Test
    void aRotationChangesTheClientsKeyOnly() {
        given.network("backend", "10.20.30.0/24");
        ada.post("/v5/tunnels", "{\"slug\": \"office\", \"vpcs\": [{\"vpc\": \"backend\"}]}");
        var before = ada.get("/v5/tunnels/office").expect(200);
        given.pass(Duration.ofMinutes(1));
        var minted = ada.post("/v5/tunnels/office/rotate-key", "").expect(200);
        var key = minted.requiredString("clientPrivateKey");
        assertTrue(config(minted).contains("PrivateKey = " + key + "\n"));
        assertNotEquals(before.string("clientPublicKey"), minted.string("clientPublicKey"));
        for (var field : before.fields()) {
            if (!Set.of("clientPublicKey", "clientConfig", "updatedAt").contains(field)) {
                assertEquals(before.value(field), minted.value(field), field);
            }
        }
        assertEquals(config(before), config(minted).replace(key, ""));
        var given =
                ada.post(
                                "/v5/tunnels/office/rotate-key",
                                "{\"clientPublicKey\": \"%s\"}".formatted(KEY))
                        .expect(200);
        assertEquals("", given.requiredString("clientPrivateKey"));
        assertEquals(KEY, given.requiredString("clientPublicKey"));
        assertEquals(config(before), config(given));
    }

    @Test
    void anUpdateSetsLeavesAndClears() {
        var id = given.tunnel("office").id().text();
        given.pass(Duration.ofMinutes(1));
        var set = ada.patch("/v5/tunnels/office", "{\"displayName\": \"Office\"}").expect(200);
        assertEquals("office", set.requiredString("slug"));
        assertEquals("Office", set.requiredString("displayName"));
        assertEquals("2026-03-01T09:31:00.000Z", set.requiredString("updatedAt"));
        var same =
                ada.patch(
                                "/v5/tunnels/office",
                                "{\"slug\": null, \"displayName\": null, \"routes\": [\"10.0.0.0/9\"]}")
                        .expect(200);
        assertEquals(set, same);
        var cleared =
                ada.patch("/v5/tunnels/office", "{\"slug\": \"\", \"displayName\": \"\"}")
                        .expect(200);
        assertTrue(!cleared.has("slug") && !cleared.has("displayName"));
        ada.get("/v5/tunnels/office").expect(404, "NOT_FOUND");
        ada.get("/v5/tunnels/" + id).expect(200);
    }

    @Test
    void aDeleteAnswersWithoutBodyAndFreesEverything() {
        given.network("backend", "10.20.30.0/24");
        var body = "{\"slug\": \"office\", \"vpcs\": [{\"vpcId\": \"backend\"}]}";
        var first = ada.post("/v5/tunnels", body).expect(200);
        var answer = ada.delete("/v5/tunnels/office");
        answer.expect(204);
        assertEquals("", answer.text());
        ada.get("/v5/tunnels/office").expect(404, "NOT_FOUND");
        ada.delete("/v5/tunnels/office").expect(404, "NOT_FOUND");
        var second = ada.post("/v5/tunnels", body).expect(200);
        assertEquals(first.value("attachments"), second.value("attachments"));
    }

    @Test
    void anAttachAndADetachAnswerTheTunnel() {
        var backend = given.network("backend", "10.20.30.0/24").id().text();
        given.tunnel("office");
        given.pass(Duration.ofMinutes(1));
        var body =
                """
                {"ipv4": "10.20.30.9", "remoteCidrs": ["10.20.30.128/25", "10.99.0.0/16"], "exit": true}
                """;
        var attached = ada.post("/v5/tunnels/office/vpcs/backend", body).expect(200);
        var place = attached.requiredObjects("attachments").getFirst();
        assertEquals(
                Set.of(
                        "vpcId",
                        "ipv4",
                        "address",
                        "vpcCidr",
                        "allowedIps",
                        "remoteCidrs",
                        "exit",
                        "createdAt"),
                place.fields());
        assertEquals(backend, place.requiredString("vpcId"));
        assertEquals("10.20.30.9", place.requiredString("address"));
        assertEquals("10.20.30.0/24", place.requiredString("vpcCidr"));
        assertEquals("2026-03-01T09:31:00.000Z", place.requiredString("createdAt"));
        assertEquals("2026-03-01T09:31:00.000Z", attached.requiredString("updatedAt"));
        assertEquals(attached, ada.get("/v5/tunnels/office").expect(200));
        var detached = ada.delete("/v5/tunnels/office/vpcs/" + backend).expect(200);
        assertEquals(List.of(), detached.requiredObjects("attachments"));
        ada.post("/v5/tunnels/office/vpcs/" + backend, body).expect(200);
    }

    @Test
    void anIpv6AddressIsTakenInEitherField() {
        given.network(given.ada(), "backend", "10.20.30.0/24", Optional.of("fd00:7::/64"));
        given.tunnel("office");
        for (var field : List.of("ipv4", "ipv6")) {
            var body = "{\"%s\": \"FD00:7:0::9\"}".formatted(field);
            var place =
                    ada.post("/v5/tunnels/office/vpcs/backend", body)
                            .expect(200)
                            .requiredObjects("attachments")
                            .getFirst();
            assertEquals("fd00:7::9", place.requiredString("ipv6"));
            assertEquals("fd00:7::9", place.requiredString("address"));
            assertTrue(!place.has("ipv4") && !place.has("secondaryAddress"));
            ada.delete("/v5/tunnels/office/vpcs/backend").expect(200);
        }
    }

    @Test
    void aListCountsBeforeItIsCut() {
        given.network("backend", "10.20.30.0/24");
        for (var slug : List.of("a", "b", "c")) {
            given.tunnel(slug);
            ada.post("/v5/tunnels/%s/vpcs/backend".formatted(slug), "").expect(200);
            given.pass(Duration.ofMillis(1));
        }
        given.tunnel("apart");
        assertEquals(List.of("apart", "c", "b", "a"), slugs("/v5/tunnels"));
        assertEquals(List.of("c", "b", "a"), slugs("/v5/vpcs/backend/tunnels"));
        assertEquals(List.of("b"), slugs("/v5/vpcs/backend/tunnels?limit=1&offset=1"));
        assertEquals(List.of(), slugs("/tunnels?limit=0"));
        var page = ada.get("/v5/tunnels?limit=1").expect(200);
        assertEquals(Set.of("tunnels", "totalCount"), page.fields());
        assertEquals(4, page.requiredInteger("totalCount"));
        assertEquals(0, bob.get("/v5/tunnels").expect(200).requiredInteger("totalCount"));
        var shown = ada.get("/v5/tunnels/c").expect(200);
        assertEquals(
                shown,
                ada.get("/v5/vpcs/backend/tunnels")
                        .expect(200)
                        .requiredObjects("tunnels")
                        .getFirst());
    }

    private List<String> slugs(String path) {
        return ada.get(path).expect(200).requiredObjects("tunnels").stream()
                .map(tunnel -> tunnel.requiredString("slug"))
                .toList();
    }

    @Test
    void everyOperationIsThereWithAndWithoutTheVersion() {
        given.network("backend", "10.20.30.0/24");
        for (var prefix : List.of("", "/v5")) {
            var tunnel = prefix + "/tunnels/office";
            ada.post(prefix + "/tunnels", "{\"slug\": \"office\"}").expect(200);
            ada.get(prefix + "/tunnels").expect(200);
            ada.get(tunnel).expect(200);
            ada.patch(tunnel, "").expect(200);
            ada.post(tunnel + "/rotate-key", "").expect(200);
            ada.post(tunnel + "/vpcs/backend", "").expect(200);
            ada.get(prefix + "/vpcs/backend/tunnels").expect(200);
            ada.delete(tunnel + "/vpcs/backend").expect(200);
            ada.delete(tunnel).expect(204);
        }
    }

    @Test
    void theDescriptionIsValid() {
        var document = new OpenAPIV3Parser().readContents(ada.get("/openapi.json").text());
        assertEquals(List.of(), document.getMessages());
    }
}
