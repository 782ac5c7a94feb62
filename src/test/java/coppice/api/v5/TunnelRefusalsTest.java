package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.network.GivenTunnels;
import coppice.network.TunnelId;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The rows of the error tables of contract/tunnels.md. What is refused changes nothing.
///
/// Ada has the networks `backend`, with a VM, `other`, `wide`, which overlaps both, and `home`, which is in no tunnel's routes; and the
/// tunnels `office`, attached to nothing, and `taken`, attached to `backend`.
class TunnelRefusalsTest {
    private static final String KEY = "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0=";
    private static final String ATTACH = "/v5/tunnels/office/vpcs/backend";

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
        var backend =
                given.network(given.ada(), "backend", "10.20.30.0/24", Optional.of("fd00:7::/64"));
        given.vm("vm-1", backend);
        given.network("other", "10.20.31.0/24");
        given.network("wide", "10.20.0.0/16");
        given.network("home", "192.168.7.0/24");
        given.tunnel("office");
        ada.post(
                        "/v5/tunnels",
                        """
                        {"slug": "taken", "clientPublicKey": "%s",
                         "vpcs": [{"vpcId": "backend", "ipv4": "10.20.30.9",
                                   "remoteCidrs": ["10.20.30.128/26", "10.99.0.0/16", "fd99::/32"]}]}
                        """
                                .formatted(KEY))
                .expect(200);
    }

    @AfterEach
    void close() {
        given.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "slug           | \"slug\": \"Bad\"",
                "slug           | \"slug\": \"tun-2z4x6c8v0b2n4m6q8w0e\"",
                "slug           | \"slug\": \"wg-2z4x6c8v0b2n4m6q8w0e\"",
                "slug           | \"slug\": 7",
                "displayName    | \"displayName\": \"a\\nb\"",
                "displayName    | \"displayName\": []",
                "clientPublicKey| \"clientPublicKey\": \"\"",
                "clientPublicKey| \"clientPublicKey\": \"AAAA\"",
                "clientPublicKey| \"clientPublicKey\": \"mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d1=\"",
                "clientPublicKey| \"clientPublicKey\": 7",
                "routes         | \"routes\": []",
                "routes         | \"routes\": \"10.0.0.0/8\"",
                "routes[1]      | \"routes\": [\"10.0.0.0/8\", \"10.0.0.1/8\"]",
                "routes[0]      | \"routes\": [\"10.0.0.0\"]",
                "routes[0]      | \"routes\": [\"fd00::/129\"]",
                "routes[0]      | \"routes\": [7]",
                "routes[0]      | \"routes\": [\"0.0.0.0/0\"]",
                "routes[1]      | \"routes\": [\"10.0.0.0/8\", \"::/0\"]",
                "vpcs           | \"vpcs\": {}",
                "vpcs[0]        | \"vpcs\": [\"backend\"]",
                "vpcs[0].vpcId  | \"vpcs\": [{}]",
                "vpcs[0].vpcId  | \"vpcs\": [{\"vpcId\": 7}]",
                "vpcs[0].ipv6   | \"vpcs\": [{\"vpc\": \"backend\", \"ipv4\": \"10.20.30.7\", \"ipv6\": \"fd00:7::7\"}]",
                "vpcs[0].ipv4   | \"vpcs\": [{\"vpc\": \"backend\", \"ipv4\": \"10.20.31.7\"}]",
                "vpcs[0].ipv4   | \"vpcs\": [{\"vpc\": \"backend\", \"ipv4\": true}]",
                "vpcs[0].remoteCidrs[0] | \"vpcs\": [{\"vpc\": \"backend\", \"remoteCidrs\": [\"10.20.30.0/23\"]}]",
                "vpcs[1].vpcId  | \"vpcs\": [{\"vpc\": \"backend\"}, {\"vpcId\": \"home\"}]",
                "vpcs[1].vpcId  | \"vpcs\": [{\"vpc\": \"backend\"}, {\"vpcId\": \"backend\"}]",
                "vpcs[0].vpcId  | \"vpcs\": [{\"vpc\": \"backend\"}], \"routes\": [\"10.0.0.0/8\"]"
            })
    void aCreateWithAWrongFieldIsRefusedByName(String field, String fields) {
        refused(400, "BAD_REQUEST", field, () -> ada.post("/v5/tunnels", "{%s}".formatted(fields)));
    }

    @Test
    void aCreateWithMoreThanSixtyFourRoutesIsRefused() {
        var routes = String.join(",", Collections.nCopies(65, "\"10.0.0.0/8\""));
        refused(
                400,
                "BAD_REQUEST",
                "routes",
                () -> ada.post("/v5/tunnels", "{\"routes\": [%s]}".formatted(routes)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "vpcs[0].vpcId | [{\"vpcId\": \"nothing\"}]",
                "vpcs[1].vpcId | [{\"vpcId\": \"backend\"}, {\"vpc\": \"vpc-00000000000000000000\"}]",
                "vpcs[0].vpcId | [{\"vpcId\": \"\"}]"
            })
    void aCreateThatNamesAnAbsentNetworkIsRefused(String field, String vpcs) {
        refused(
                404,
                "NOT_FOUND",
                field,
                () -> ada.post("/v5/tunnels", "{\"vpcs\": %s}".formatted(vpcs)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "slug            | \"slug\": \"taken\"",
                "clientPublicKey | \"clientPublicKey\": \"" + KEY + "\"",
                "vpcs[0].ipv4    | \"vpcs\": [{\"vpc\": \"backend\", \"ipv4\": \"10.20.30.9\"}]",
                "vpcs[0].ipv4    | \"vpcs\": [{\"vpc\": \"backend\", \"ipv4\": \"10.20.30.130\"}]",
                "vpcs[0].ipv6    | \"vpcs\": [{\"vpc\": \"backend\", \"ipv6\": \"fd00:7::2\"}]",
                "vpcs[1].vpcId   | \"vpcs\": [{\"vpc\": \"backend\"}, {\"vpc\": \"wide\"}]",
                "vpcs[0].remoteCidrs[0] | \"vpcs\": [{\"vpc\": \"backend\", \"remoteCidrs\": [\"10.99.7.0/24\"]}]"
            })
    void aCreateThatIsInTheWayOfSomethingIsRefused(String field, String fields) {
        refused(409, "CONFLICT", field, () -> ada.post("/v5/tunnels", "{%s}".formatted(fields)));
    }

    @Test
    void aCreateOverAHundredTunnelsIsRefused() {
        for (int n = 2; n < 100; n++) {
            given.tunnel("t" + n);
        }
        refused(409, "CONFLICT", "an account has", () -> ada.post("/v5/tunnels", ""));
        bob.post("/v5/tunnels", "").expect(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "ipv6           | \"ipv4\": \"10.20.30.7\", \"ipv6\": \"fd00:7::7\"",
                "ipv4           | \"ipv4\": \"10.20.31.7\"",
                "ipv4           | \"ipv4\": \"10.20.30.0\"",
                "ipv4           | \"ipv4\": \"10.20.30.255\"",
                "ipv6           | \"ipv4\": \"fd00:8::7\"",
                "ipv6           | \"ipv6\": \"fd00:7::1\"",
                "ipv6           | \"ipv6\": \"10.20.30.7\"",
                "ipv4           | \"ipv4\": \"\"",
                "ipv4           | \"ipv4\": \"10.20.30.7/32\"",
                "ipv4           | \"ipv4\": \"host.example.test\"",
                "ipv4           | \"ipv4\": 7",
                "remoteCidrs[0] | \"remoteCidrs\": [\"10.20.30.7/24\"]",
                "remoteCidrs[1] | \"remoteCidrs\": [\"10.98.0.0/16\", \"10.20.0.0/16\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"0.0.0.0/0\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"fd00::/16\"]",
                "remoteCidrs    | \"remoteCidrs\": \"10.98.0.0/16\"",
                "exit           | \"exit\": \"yes\""
            })
    void anAttachWithAWrongFieldIsRefusedByName(String field, String fields) {
        refused(400, "BAD_REQUEST", field, () -> ada.post(ATTACH, "{%s}".formatted(fields)));
    }

    @Test
    void anAttachWithMoreThanSixteenRangesIsRefused() {
        var ranges = String.join(",", Collections.nCopies(17, "\"10.98.0.0/16\""));
        refused(
                400,
                "BAD_REQUEST",
                "remoteCidrs",
                () -> ada.post(ATTACH, "{\"remoteCidrs\": [%s]}".formatted(ranges)));
    }

    @Test
    void anAttachToANetworkOutsideOfTheRoutesIsRefused() {
        refused(400, "BAD_REQUEST", "vpcId", () -> ada.post("/v5/tunnels/office/vpcs/home", ""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "ipv4           | \"ipv4\": \"10.20.30.1\"",
                "ipv4           | \"ipv4\": \"10.20.30.9\"",
                "ipv4           | \"ipv4\": \"10.20.30.190\"",
                "ipv6           | \"ipv4\": \"fd00:7::2\"",
                "remoteCidrs[0] | \"remoteCidrs\": [\"10.20.30.0/30\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"10.20.30.8/31\"]",
                "remoteCidrs[1] | \"remoteCidrs\": [\"10.98.0.0/16\", \"10.20.30.160/32\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"10.20.30.0/24\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"10.99.0.0/16\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"10.96.0.0/12\"]",
                "remoteCidrs[0] | \"remoteCidrs\": [\"fd99:0:1::/48\"]"
            })
    void anAttachThatIsInTheWayOfSomethingIsRefused(String field, String fields) {
        refused(409, "CONFLICT", field, () -> ada.post(ATTACH, "{%s}".formatted(fields)));
    }

    @Test
    void anAttachTwiceOrToAnOverlappingNetworkIsRefused() {
        refused(409, "CONFLICT", "vpcId", () -> ada.post("/v5/tunnels/taken/vpcs/backend", ""));
        refused(409, "CONFLICT", "vpcId", () -> ada.post("/v5/tunnels/taken/vpcs/wide", ""));
    }

    @Test
    void whatThePathNamesIsLookedForBeforeTheBodyIsLookedAt() {
        var wrong = "{\"slug\": \"Bad\", \"ipv4\": \"x\", \"clientPublicKey\": \"x\"}";
        for (var path :
                List.of(
                        "/v5/tunnels/nothing/rotate-key",
                        "/v5/tunnels/nothing/vpcs/backend",
                        "/v5/tunnels/office/vpcs/nothing")) {
            refused(404, "NOT_FOUND", "there is no", () -> ada.post(path, wrong));
        }
        refused(404, "NOT_FOUND", "there is no", () -> ada.patch("/v5/tunnels/nothing", wrong));
        for (var path : List.of("/v5/tunnels/office/rotate-key", ATTACH)) {
            refused(400, "BAD_REQUEST", "", () -> ada.post(path, wrong));
        }
        refused(400, "BAD_REQUEST", "slug", () -> ada.patch("/v5/tunnels/office", wrong));
    }

    @Test
    void anUpdateIsRefusedATakenSlug() {
        var body = "{\"slug\": \"taken\", \"displayName\": \"Office\"}";
        refused(409, "CONFLICT", "slug", () -> ada.patch("/v5/tunnels/office", body));
        bob.post("/v5/tunnels", "{\"slug\": \"taken\"}").expect(200);
    }

    @Test
    void aRotationIsRefusedAKeyOfAnotherTunnelOrNoKey() {
        var path = "/v5/tunnels/office/rotate-key";
        var body = "{\"clientPublicKey\": \"%s\"}";
        refused(409, "CONFLICT", "clientPublicKey", () -> ada.post(path, body.formatted(KEY)));
        refused(400, "BAD_REQUEST", "clientPublicKey", () -> ada.post(path, body.formatted("")));
        bob.post("/v5/tunnels", "{\"slug\": \"his\"}").expect(200);
        bob.post("/v5/tunnels/his/rotate-key", body.formatted(KEY)).expect(409, "CONFLICT");
    }

    @Test
    void aDetachOfWhatIsNotAttachedIsRefused() {
        for (var path :
                List.of(
                        ATTACH,
                        "/v5/tunnels/office/vpcs/nothing",
                        "/v5/tunnels/nothing/vpcs/backend")) {
            refused(404, "NOT_FOUND", "", () -> ada.delete(path));
        }
    }

    @Test
    void theTunnelsOfAnAbsentNetworkAreNotListed() {
        refused(404, "NOT_FOUND", "there is no", () -> ada.get("/v5/vpcs/nothing/tunnels"));
    }

    @Test
    void aTunnelOfAnotherAccountIsExactlyAsAbsentAsARandomOne() {
        var hidden = given.tunnels().get(given.ada(), "office").id().text();
        var never = TunnelId.random().text();
        var network = given.networks().vpc(given.ada(), "backend").orElseThrow().id().text();
        List<Function<String, ApiCaller.Answer>> calls =
                List.of(
                        id -> bob.get("/v5/tunnels/" + id),
                        id -> bob.patch("/v5/tunnels/" + id, "{}"),
                        id -> bob.post("/v5/tunnels/%s/rotate-key".formatted(id), ""),
                        id -> bob.post("/v5/tunnels/%s/vpcs/%s".formatted(id, network), ""),
                        id -> bob.delete("/v5/tunnels/%s/vpcs/%s".formatted(id, network)),
                        id -> bob.delete("/v5/tunnels/" + id));
        for (var call : calls) {
            assertSameAbsence(call.apply(hidden), call.apply(never), hidden, never);
            assertSameAbsence(call.apply("office"), call.apply("absent"), "office", "absent");
        }
        bob.get("/v5/vpcs/backend/tunnels").expect(404, "NOT_FOUND");
        bob.post("/v5/tunnels", "{\"vpcs\": [{\"vpcId\": \"%s\"}]}".formatted(network))
                .expect(404, "NOT_FOUND");
        ada.get("/v5/tunnels/office").expect(200);
    }

    private static void assertSameAbsence(
            ApiCaller.Answer hidden, ApiCaller.Answer never, String id, String other) {
        assertEquals(404, hidden.status(), hidden.text());
        assertEquals(never.text(), hidden.text().replace(id, other));
    }

    private interface Attempt {
        ApiCaller.Answer send();
    }

    /// @param start of the message
    private void refused(int status, String code, String start, Attempt attempt) {
        var before = given.networks().of(given.ada());
        var message = attempt.send().expect(status, code).requiredString("message");
        assertTrue(message.startsWith(start), message);
        assertEquals(before, given.networks().of(given.ada()));
    }
}
