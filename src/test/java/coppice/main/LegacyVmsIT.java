package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The life of VMs in the legacy family.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LegacyVmsIT {
    private static final String USER = "X-Svc-Vm-Linux-User-Id";

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @Test
    void aVmIsMadeSetUpUsedRestedAndDeletedInTheOldShapes() throws InterruptedException {
        var created =
                client.post(
                                "/v1/vms",
                                """
                                {"rootfsSizeGb":2,"workdir":"/srv/app","activityThresholdBytes":5,"ports":[],
                                "groups":[{"name":"team","gid":3000}],
                                "users":[{"name":"app","uid":1500,"groups":["team"]},{"name":"sysd","system":true}],
                                "additionalFiles":{"/srv/app/a b":{"content":"AAH/","encoding":"base64","executable":true}}}
                                """)
                        .expect(200);
        assertEquals(Set.of("id", "domains", "consoleUrl", "snapshotId"), created.fields());
        var id = created.requiredString("id");
        var path = "/v1/vms/" + id.substring(3);
        isSetUp(path);
        rests(id, path);
        assertEquals(
                JsonObject.empty(), client.post(path + "/resize", "{\"vcpuCount\":2}").expect(200));
        assertEquals("2", run(client, path, "nproc"));
        endsAreTold(path);
        assertEquals(JsonObject.of(Map.of("id", id)), client.delete(path).expect(200));
        assertTrue(listed("?includeDeleted=true", id).requiredBool("deleted"));
        client.post(path + "/start", "{}").expect(410, "VM_DELETED");
    }

    private void isSetUp(String path) {
        assertEquals("/srv/app root", run(client, path, "echo $(pwd) $(id -un)"));
        assertEquals(
                "1500 app team /home/app",
                run(client.with(USER, "app"), path, "echo $(id -u) $(id -Gn) $HOME; [ -w ~ ]"));
        assertEquals("0", run(client, path, "[ $(id -u sysd) -lt 1000 ]; echo $?"));
        assertEquals(
                "755 000001ff",
                run(client, path, "echo $(stat -c %a 'a b') 00$(od -An -tx1 'a b' | tr -d ' ')"));
        assertTrue(
                Integer.parseInt(run(client, path, "df -m / | tail -1 | awk '{print $2}'")) > 1800);
        client.with(USER, "nobody-here")
                .post(path + "/exec-await", "{\"command\":\"true\"}")
                .expect(400, "BAD_REQUEST");
    }

    private void rests(String id, String path) {
        var shown = client.get(path).expect(200);
        assertEquals("running", shown.requiredString("state"));
        var run = shown.requiredString("vmInstanceId");
        assertEquals(
                300, client.get("/v5/vms/" + id).expect(200).requiredInteger("idleTimeoutSeconds"));
        client.post(path + "/suspend", "{}").expect(200);
        assertEquals("suspended", listed("", id).requiredString("state"));
        assertEquals(1, client.get("/v1/vms").expect(200).requiredInteger("suspendedCount"));
        var started =
                client.post(
                                path + "/start",
                                "{\"idleTimeoutSeconds\":-1,\"waitForReadySignal\":null}")
                        .expect(200);
        assertEquals(Set.of("id", "domains", "console_url"), started.fields());
        assertTrue(!client.get("/v5/vms/" + id).expect(200).has("idleTimeoutSeconds"));
        assertNotEquals(run, client.get(path).expect(200).requiredString("vmInstanceId"));
    }

    private void endsAreTold(String path) throws InterruptedException {
        for (var end : List.of("kill", "stop")) {
            var told = new ArrayList<String>();
            var waiting =
                    Thread.startVirtualThread(
                            () ->
                                    told.add(
                                            client.post(path + "/await", "{}")
                                                    .expect(200)
                                                    .requiredString("exitStatus")));
            client.post(path + "/" + end, "{}").expect(200);
            waiting.join();
            assertEquals(List.of(end.equals("kill") ? "killed" : "stopped"), told);
            client.post(path + "/start", "{}").expect(200);
        }
    }

    @Test
    void aVmThatMayBeMadeAnewKeepsItsIdAndIsAsItsBodySays() {
        var id =
                client.post(
                                "/v1/vms",
                                "{\"recreate\":true,\"additionalFiles\":{\"/made\":{\"content\":\"as said\"}}}")
                        .expect(200)
                        .requiredString("id");
        var path = "/v1/vms/" + id;
        for (int times = 0; times < 2; times++) {
            assertEquals("as said", run(client, path, "cat /made; rm /made"));
            client.delete(path).expect(200);
            client.get(path).expect(404, "VM_NOT_FOUND");
            assertEquals(id, client.post(path + "/start", "{}").expect(200).requiredString("id"));
            assertEquals(false, listed("?includeDeleted=true", id).requiredBool("deleted"));
        }
        client.delete(path).expect(200);
    }

    @Test
    void aVmWhoseSetUpFailsIsAsIfItHadNeverBeen() {
        var before =
                client.get("/v1/vms?includeDeleted=true").expect(200).requiredInteger("totalCount");
        for (var field :
                List.of(
                        "\"users\":[{\"name\":\"a\",\"groups\":[\"absent\"]}]",
                        "\"aptDeps\":[\"hello\"]",
                        "\"systemd\":{\"services\":[{\"name\":\"x\",\"mode\":\"oneshot\",\"exec\":[\"true\"]}]}")) {
            var failed = client.post("/v1/vms", "{%s}".formatted(field));
            failed.expect(500, "VM_SETUP_FAILED");
            assertTrue(failed.body().isNull("diagnostics"), failed.message());
            assertTrue(failed.body().requiredString("failedReason").startsWith("could not"));
            assertTrue(failed.body().requiredString("snapshotId").startsWith("sh-"));
        }
        assertEquals(
                before,
                client.get("/v1/vms?includeDeleted=true")
                        .expect(200)
                        .requiredInteger("totalCount"));
    }

    @Test
    void aResizeThatTheGuestCannotDoFailsByThatName() {
        var vm = client.createVm();
        client.run(vm, "mount -o remount,ro /");
        client.post("/v1/vms/%s/resize".formatted(vm), "{\"rootfsSizeGb\":2}")
                .expect(500, "RESIZE_FAILED");
        client.delete("/v1/vms/" + vm).expect(200);
    }

    private static String run(Client caller, String path, String command) {
        var result = caller.post(path + "/exec-await", Client.exec(command)).expect(200);
        assertEquals(Set.of("stdout", "stderr", "statusCode"), result.fields());
        assertEquals(0, result.requiredInteger("statusCode"), result.requiredString("stderr"));
        return result.requiredString("stdout").stripTrailing();
    }

    private JsonObject listed(String query, String id) {
        return client.get("/v1/vms" + query).expect(200).requiredObjects("vms").stream()
                .filter(item -> item.requiredString("id").equals(id))
                .findFirst()
                .orElseThrow();
    }
}
