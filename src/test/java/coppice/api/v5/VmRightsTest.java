package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.Family;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What an identity may do in a VM that it was granted, and in one that it was not.
class VmRightsTest {
    private static final String IDENTITIES = "/v5/identities";

    @TempDir private Path directory;
    private IdentityServer server;
    private ApiCaller ada;
    private String identity;
    private ApiCaller holder;

    @BeforeEach
    void open() {
        server = new IdentityServer(directory);
        ada = server.ada();
        identity = ada.post(IDENTITIES, "").expect(200).requiredString("id");
        holder = holder(ada, identity);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static ApiCaller holder(ApiCaller account, String identity) {
        var tokens = "%s/%s/tokens".formatted(IDENTITIES, identity);
        return account.withToken(account.post(tokens, "").expect(200).requiredString("token"));
    }

    private void grant(String users) {
        var body = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":%s}".formatted(server.vm(), users);
        ada.post("%s/%s/permissions/vm".formatted(IDENTITIES, identity), body).expect(200);
    }

    @ParameterizedTest
    @CsvSource({"/v5/vms/", "/vms/", "/v1/vms/"})
    void aVmIsShownToWhomItIsGrantedAndAbsentForOthers(String vms) {
        var bob = server.bob();
        var bobs = bob.post(IDENTITIES, "").expect(200).requiredString("id");
        for (var name : List.of(server.vm(), "stopped")) {
            var never = holder.get(vms + "nothing");
            assertEquals(never.text().replace("nothing", name), holder.get(vms + name).text());
            var exec = holder.post(vms + name + "/exec-await", "{\"command\":\"true\"}");
            assertEquals(404, exec.status());
            assertEquals(never.text().replace("nothing", name), exec.text());
        }
        grant("null");
        for (var name : List.of(server.vm(), "stopped")) {
            assertEquals(ada.get(vms + name).text(), holder.get(vms + name).text());
            assertEquals(404, holder(bob, bobs).get(vms + name).status());
        }
        ada.delete("%s/%s/permissions/vm/%s".formatted(IDENTITIES, identity, server.vm()));
        assertEquals(404, holder.get(vms + server.vm()).status());
    }

    /// What may not be is refused before the VM is woken, which cannot be started here.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "null                | | 409 | CONFLICT",
                "null                | app | 409 | CONFLICT",
                "[\"app\",\"root\"]  | app | 409 | CONFLICT",
                "[\"app\"]           | | 400 | BAD_REQUEST",
                "[\"app\"]           | root | 403 | LINUX_USER_NOT_ALLOWED"
            })
    void aCommandRunsAsWhomTheIdentityMayActAs(String users, String user, int status, String code) {
        grant(users);
        var sent = user == null ? "" : ",\"linuxUser\":\"%s\"".formatted(user);
        var body = "{\"command\":\"true\"%s}".formatted(sent);
        var path = "/v5/vms/%s/exec-await".formatted(server.vm());
        holder.post(path, body).expect(status, code);
        ada.post(path, body).expect(409, "CONFLICT");
    }

    @Test
    void filesAreForWhomMayActAsRootThere() {
        var tried = new HashSet<String>();
        for (var route : server.routes()) {
            if (!IdentityServer.FILES.contains(route.description().id())) {
                continue;
            }
            tried.add(route.description().id());
            for (var family : route.families()) {
                var path = family.prefix() + filled(route.path().toString());
                var method = route.method().name();
                var body = "{\"path\":\"/a\",\"size\":1,\"content\":\"\"}";
                ada.delete(own());
                assertEquals(404, holder.send(method, path, body).status(), path);
                grant("[\"app\"]");
                var isOld = family == Family.LEGACY;
                holder.send(method, path, body)
                        .expect(403, isOld ? "LINUX_USER_NOT_ALLOWED" : "FORBIDDEN");
                grant("[\"app\",\"root\"]");
                var answer = holder.send(method, path, body);
                assertEquals(ada.send(method, path, body).status(), answer.status(), path);
                assertTrue(answer.status() != 403, path);
            }
        }
        assertEquals(IdentityServer.FILES, tried);
    }

    private String own() {
        return "%s/%s/permissions/vm/%s".formatted(IDENTITIES, identity, server.vm());
    }

    private String filled(String template) {
        return template.replaceAll("\\{vm(_id)?\\}", server.vm())
                        .replace("{uploadId}", "up-" + "0".repeat(20))
                        .replace("{filepath}", "%2Fa")
                + "?path=/a&offset=0";
    }

    @Test
    void legacyFilesAreDoneAsWhomTheHeaderNamesAndWatchedAsRoot() {
        grant("[\"app\"]");
        var files = "/v1/vms/%s/files/a".formatted(server.vm());
        var asApp = holder.with("X-Svc-Vm-Linux-User-Id", "app");
        asApp.get(files).expect(409, "CONFLICT"); // it cannot be started here
        holder.with("X-Svc-Vm-Linux-User-Id", "root")
                .get(files)
                .expect(403, "LINUX_USER_NOT_ALLOWED");
        asApp.post("/v1/vms/%s/watch-files".formatted(server.vm()), "")
                .expect(403, "LINUX_USER_NOT_ALLOWED");
    }

    @Test
    void aWrongBodyIsWrongBeforeTheUserIs() {
        grant("[\"app\"]");
        var path = "/v5/vms/%s/exec-await".formatted(server.vm());
        holder.post(path, "{\"linuxUser\":\"root\"}").expect(400, "BAD_REQUEST");
    }
}
