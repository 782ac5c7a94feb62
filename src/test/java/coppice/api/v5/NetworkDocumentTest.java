package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.VmRights;
import coppice.vm.GivenVms;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How the operations on networks and rules are described.
class NetworkDocumentTest {
    private static final List<String> PATHS =
            List.of(
                    "/vpcs",
                    "/vpcs/{vpc}",
                    "/firewall/rules",
                    "/firewall/rules/{ruleId}",
                    "/firewall/evaluate");

    @TempDir private Path directory;

    private OpenAPI document() {
        try (var server = new NetworkServer(directory)) {
            var text = server.ada().get("/openapi.json").text();
            var result = new OpenAPIV3Parser().readContents(text);
            assertEquals(List.of(), result.getMessages());
            return result.getOpenAPI();
        }
    }

    @Test
    void eachOperationIsInBothFamiliesAndOneIsDeprecated() {
        var paths = document().getPaths();
        for (var path : PATHS) {
            assertTrue(
                    paths.get("/v5" + path).readOperations().stream()
                            .allMatch(operation -> operation.getDeprecated() == null),
                    path);
            assertTrue(
                    paths.get(path).readOperations().stream()
                            .allMatch(operation -> operation.getDeprecated()),
                    path);
        }
    }

    @Test
    void everyShapeHasItsFields() {
        var schemas = document().getComponents().getSchemas();
        assertEquals(
                Set.of("vmId", "vpcId", "tunnelId", "cidr", "public", "port", "protocol"),
                schemas.get("FirewallMatcher").getProperties().keySet());
        assertEquals(
                Set.of("platform", "vmId", "vpcIds", "tunnelId", "address", "public", "port"),
                schemas.get("FirewallParty").getProperties().keySet());
        for (var outcome :
                List.of("AllowedByPlatform", "AllowedByRule", "DeniedByPlatform", "Denied")) {
            assertTrue(schemas.get(outcome).getRequired().contains("outcome"), outcome);
        }
        assertEquals(
                Set.of("cidr", "cidrV6", "slug", "displayName", "firewall"),
                schemas.get("CreateVpc").getProperties().keySet());
    }

    @Test
    void theRulesOfAVmAreDescribedAsThoseOfANetwork() {
        try (var given = new GivenVms(directory)) {
            var routes =
                    Stream.of(
                                    new VmRoutes(
                                                    given.vms(),
                                                    given.networks(),
                                                    Optional.empty(),
                                                    VmRights.NONE)
                                            .routes())
                            .flatMap(List::stream)
                            .toList();
            var text = new ApiCaller(routes, given.ada().uuid()).get("/openapi.json").text();
            var result = new OpenAPIV3Parser().readContents(text);
            assertEquals(List.of(), result.getMessages());
            var schemas = result.getOpenAPI().getComponents().getSchemas();
            for (var name :
                    List.of(
                            "InlineFirewall",
                            "FirewallRule",
                            "JoinVpc",
                            "VmNetwork",
                            "StaticRoute")) {
                assertTrue(schemas.containsKey(name), name);
            }
        }
    }
}
