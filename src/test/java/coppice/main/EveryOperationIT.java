package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.main.PublishedOperation.Family;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The OpenAPI document, held against what a whole server does: every operation is called with success and in vain, and every answer is
/// one that the document describes.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EveryOperationIT {
    /// Nothing builds templates yet: it is always answered 503, as the document says.
    private static final Set<String> NEVER_DONE = Set.of("legacyBuildSnapshot");

    /// They need nothing that can be wrong, but for a credential.
    private static final Set<String> NEVER_REFUSED =
            Set.of("status", "openApi", "readiness", "listTeams");

    @AutoClose private Installation installation;
    private PublishedDocument document;

    @BeforeAll
    void start() {
        installation = Installation.start(Map.of("COPPICE_IMAGES", "busybox,debian"));
        var text = installation.clientWithKey("").get("/openapi.json").response().body();
        document = PublishedDocument.parse(new String(text, UTF_8));
    }

    /// One who has an account of its own.
    private EveryOperationCaller caller(String account) {
        var key = installation.program("key", "create", "--account", account).strip();
        return new EveryOperationCaller(installation, document, key);
    }

    @Test
    void everyOperationOfTheMainFamilyIsAsDescribed() {
        requireAll(Family.V5, walked("/v5"));
    }

    @Test
    void everyDeprecatedOperationIsAsDescribed() {
        requireAll(Family.UNVERSIONED, walked(""));
    }

    private EveryOperationCaller walked(String family) {
        var caller = caller("main" + family.replace('/', '-'));
        var own = caller.at(family);
        var networks = new EveryOperationNetworks(own);
        networks.begin("home");
        new EveryOperationVms(own).walk("home");
        networks.walk("home");
        new EveryOperationPeople(own).walk();
        return caller;
    }

    @Test
    void everyLegacyOperationIsAsDescribed() {
        var caller = caller("legacy");
        new EveryOperationLegacy(caller).walk();
        new EveryOperationServices(caller).walk();
        new EveryOperationPeople(caller).walkOldest();
        requireAll(Family.LEGACY, caller);
    }

    @Test
    void everyOperationThatNeedsNoAccountsCredentialIsAsDescribed() {
        var caller = caller("open");
        var nobody = caller.withKey("");
        nobody.done("GET /status");
        nobody.done("GET /readyz");
        nobody.done("GET /openapi.json");
        var email = "everybody@example.org";
        var password = installation.program("user", "create", email).strip();
        new EveryOperationSignIn(nobody, email, password).walk();
        requireAll(Family.OPEN, caller);
    }

    @Test
    void examplesCanBeSentAsTheyAre() {
        var caller = caller("reader");
        for (var id :
                List.of(
                        "createVpc",
                        "createVm",
                        "createFirewallRule",
                        "evaluateFirewall",
                        "createTunnel",
                        "createIdentity",
                        "legacyCreateIdentity",
                        "execAwait",
                        "legacyExecAwait",
                        "openUpload",
                        "takeSnapshot",
                        "legacyTakeSnapshot",
                        "forkVm")) {
            var operation = document.operation(id);
            var call = operation.method() + " " + operation.pathOf("web");
            caller.done(call, operation.example().toString());
        }
    }

    private void requireAll(Family family, EveryOperationCaller caller) {
        var refusals = EveryOperationRefusals.of(caller);
        var operations =
                document.operations().stream().filter(it -> it.family() == family).toList();
        operations.forEach(refusals::call);
        assertEquals(Set.of(), missing(operations, caller.called().done(), NEVER_DONE));
        assertEquals(Set.of(), missing(operations, caller.called().refused(), NEVER_REFUSED));
    }

    private static Set<String> missing(
            List<PublishedOperation> operations, Set<String> called, Set<String> exceptions) {
        return operations.stream()
                .map(PublishedOperation::id)
                .filter(id -> called.contains(id) == exceptions.contains(id))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
