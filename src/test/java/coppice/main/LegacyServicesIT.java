package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Services inside a VM with systemd, and the set-up of a VM that has them.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LegacyServicesIT {
    /// Everything that systemd or a shell would make something of.
    private static final String ODD = "  a\t\"b\" 'c' \\ \\n %h %% $HOME ${PATH} $$ ; # ä€😀 ";

    @AutoClose private Installation installation;
    private Client client;
    private String vm;
    private String services;

    @BeforeAll
    void start() {
        installation =
                Installation.start(
                        Map.of("COPPICE_IMAGES", "debian", "COPPICE_IMAGE_DEFAULT", "debian"));
        client = installation.client("main");
        var oneshot =
                "printf '%s|' \"$ODD\" '%h' \"\\$x\" >/srv/seen; pwd >>/srv/seen; id -un >>/srv/seen";
        var body =
                new JsonWriter()
                        .put("workdir", "/srv")
                        .put("users", List.of(Map.of("name", "app", "groups", List.of("team"))))
                        .put("groups", List.of(Map.of("name", "team")))
                        .put(
                                "systemd",
                                Map.of(
                                        "services",
                                        List.of(
                                                service("odd", "oneshot", oneshot)
                                                        .put("env", Map.of("ODD", ODD))
                                                        .put("readySignal", true),
                                                service(
                                                                "ready",
                                                                "service",
                                                                "touch /tmp/is-ready; systemd-notify --ready; exec sleep 1000")
                                                        .put("user", "app")
                                                        .put("readySignal", true),
                                                service("passing", "oneshot", "true")
                                                        .put("deleteAfterSuccess", true)),
                                        "patchedServices",
                                        List.of(Map.of("name", "console-getty", "timeoutSec", 7))));
        vm = create(body).expect(200).requiredString("id");
        services = "/v1/vms/%s/systemd".formatted(vm);
    }

    private static JsonWriter service(String name, String mode, String command) {
        return new JsonWriter().put("name", name).put("mode", mode).put("exec", List.of(command));
    }

    private Client.Answer create(JsonWriter body) {
        return client.post("/v1/vms", new String(Json.write(body), StandardCharsets.UTF_8));
    }

    @Test
    void aVmIsHandedOverWhenItsServicesAreReady() {
        assertEquals(ODD + "|%h|$x|/srv\nroot", client.run(vm, "cat /srv/seen"));
        assertEquals(
                "active app",
                client.run(vm, "echo $(systemctl is-active ready) $(stat -c %U /tmp/is-ready)"));
        assertEquals("7s", client.run(vm, "systemctl show -P TimeoutStopUSec console-getty"));
        assertEquals("app team", client.run(vm, "id -Gn app"));
        client.get(services + "/services/passing/status").expect(404, "SERVICE_NOT_FOUND");
        assertEquals("0", client.run(vm, "ls /etc/systemd/system | grep -c passing || true"));
        assertEquals("running", client.run(vm, "systemctl is-system-running"));
    }

    @Test
    void aVmWhoseServiceFailsBeforeItIsReadyIsRemovedAndTheFailureShowsItsLog() {
        var before = ids();
        var failed =
                create(
                        new JsonWriter()
                                .put(
                                        "systemd",
                                        Map.of(
                                                "services",
                                                List.of(
                                                        service(
                                                                        "bad",
                                                                        "service",
                                                                        "echo broken; exit 3")
                                                                .put("readySignal", true)
                                                                .put(
                                                                        "restartPolicy",
                                                                        Map.of("policy", "no"))))));
        failed.expect(500, "VM_SETUP_FAILED");
        var diagnostics = failed.body().requiredObject("diagnostics");
        var state = diagnostics.requiredObjects("serviceStates").getFirst();
        assertEquals("failed", state.requiredString("activeState"));
        assertEquals(List.of("bad.service"), state.strings("services").orElseThrow());
        var log = diagnostics.requiredObjects("failedServiceLogs").getFirst();
        assertEquals("bad.service", log.requiredString("unitName"));
        assertTrue(log.requiredString("log").contains("broken"));
        assertEquals(before, ids());
    }

    @Test
    void aVmWhoseServicesAreNotReadyInTimeIsToldSoAndStays() {
        var slow = service("slow", "service", "exec sleep 1000").put("readySignal", true);
        var before = ids();
        create(
                        new JsonWriter()
                                .put("readySignalTimeoutSeconds", 1)
                                .put("systemd", Map.of("services", List.of(slow))))
                .expect(504, "VM_START_TIMEOUT");
        var made = ids().stream().filter(id -> !before.contains(id)).toList();
        assertEquals(1, made.size());
        assertEquals("running", client.state(made.getFirst()));
        client.delete("/v1/vms/" + made.getFirst()).expect(200);
    }

    /// Of all VMs, those that were deleted included.
    private List<String> ids() {
        return client.get("/v1/vms?includeDeleted=true").expect(200).requiredObjects("vms").stream()
                .map(item -> item.requiredString("id"))
                .toList();
    }

    @Test
    void aServiceIsMadeShownReadRestartedAndDeleted() {
        var made =
                post(
                                "/services",
                                service("web", "service", "echo began; exec sleep 1000")
                                        .put("user", "app"))
                        .expect(200);
        assertEquals(Set.of("success", "message", "serviceName"), made.fields());
        var again = post("/services", service("web", "service", "true"));
        again.expect(409, "SERVICE_ALREADY_EXISTS");
        assertEquals("web", again.body().requiredString("serviceName"));
        assertTrue(names(client).contains("web"));
        var restarted = act("restart", "web", "absent", "a/b");
        assertEquals(
                List.of(true, false, false),
                restarted.stream().map(result -> result.requiredBool("success")).toList());
        assertEquals(
                List.of("web", "absent", "a/b"),
                restarted.stream().map(result -> result.requiredString("serviceId")).toList());
        assertEquals(
                JsonObject.of(
                        Map.of(
                                "name", "web",
                                "activeState", "active",
                                "subState", "running",
                                "loadState", "loaded",
                                "description", "web")),
                client.get(services + "/services/web.service/status").expect(200));
        logsAreRead();
        act("stop", "web");
        assertEquals("3", client.run(vm, "systemctl --quiet is-active web; echo $?"));
        client.delete(services + "/services/web").expect(200);
        client.delete(services + "/services/web").expect(404, "SERVICE_NOT_FOUND");
        client.get(services + "/services/web/logs").expect(404, "SERVICE_NOT_FOUND");
        assertEquals("0", client.run(vm, "ls -R /etc/systemd/system | grep -c 'web' || true"));
    }

    private void logsAreRead() {
        client.run(
                vm,
                "for i in $(seq 50); do journalctl -q -u web -o cat | grep -q began && exit; sleep 0.1; done; exit 1");
        var logs = client.get(services + "/services/web/logs").expect(200).requiredObjects("logs");
        var line =
                logs.stream()
                        .filter(l -> l.requiredString("message").equals("began"))
                        .findFirst()
                        .orElseThrow();
        assertEquals("web.service", line.requiredString("unit"));
        assertEquals("6", line.requiredString("priority"));
        var times = logs.stream().map(l -> l.requiredString("timestamp")).toList();
        assertEquals(times.stream().sorted().toList(), times);
        var last = client.get(services + "/services/web/logs?lines=1").expect(200);
        assertEquals(List.of(logs.getLast()), last.requiredObjects("logs"));
        var none =
                client.get(services + "/services/web/logs?since=2100-01-01T00:00:00Z").expect(200);
        assertEquals(List.of(), none.requiredObjects("logs"));
    }

    @Test
    void whatTheVmDoesNotHaveIsNamedAndLeavesNoUnit() {
        post("/services", service("x", "service", "true").put("user", "nobody-here"))
                .expect(404, "USER_NOT_FOUND");
        post("/services", service("x", "service", "true").put("group", "nothing"))
                .expect(404, "GROUP_NOT_FOUND");
        client.with("X-Svc-Vm-Linux-User-Id", "nobody-here")
                .get(services + "/services")
                .expect(404, "USER_NOT_FOUND");
        client.get(services + "/services/x/status").expect(404, "SERVICE_NOT_FOUND");
    }

    @Test
    void aUserHasServicesOfItsOwn() {
        var app = client.with("X-Svc-Vm-Linux-User-Id", "app");
        var body = service("mine", "service", "echo I am $USER; exec sleep 1000");
        app.post(services + "/services", new String(Json.write(body), StandardCharsets.UTF_8))
                .expect(200);
        assertTrue(names(app).contains("mine"));
        assertTrue(!names(client).contains("mine"));
        assertEquals(
                "app",
                client.run(
                        vm,
                        """
                        manager=$(pgrep -u app -x systemd)
                        for i in $(seq 50); do p=$(pgrep -x sleep -P $manager) && break; sleep 0.1; done
                        ps -o user= -p $p
                        """));
        var logs = app.get(services + "/services/mine/logs").expect(200).requiredObjects("logs");
        assertTrue(logs.stream().anyMatch(l -> l.requiredString("message").equals("I am app")));
        app.delete(services + "/services/mine").expect(200);
        app.get(services + "/services/mine/status").expect(404, "SERVICE_NOT_FOUND");
    }

    @Test
    void anIdentityLooksAtServicesAsWhomItMayAndChangesThemOnlyAsRoot() {
        var holder = holder("[\"app\"]");
        var app = holder.with("X-Svc-Vm-Linux-User-Id", "app");
        holder.get(services + "/services").expect(403, "LINUX_USER_NOT_ALLOWED");
        names(app);
        app.get(services + "/services/none/logs").expect(404, "SERVICE_NOT_FOUND");
        var body =
                new String(Json.write(service("its", "service", "true")), StandardCharsets.UTF_8);
        app.post(services + "/services", body).expect(403, "LINUX_USER_NOT_ALLOWED");
        app.delete(services + "/services/ready").expect(403, "LINUX_USER_NOT_ALLOWED");
        for (var verb : List.of("start", "stop", "restart")) {
            app.post(services + "/" + verb, "{\"services\":[{\"id\":\"ready\"}]}")
                    .expect(403, "LINUX_USER_NOT_ALLOWED");
        }
        assertEquals("active", client.run(vm, "systemctl is-active ready"));
        var root = holder("[\"root\"]");
        root.post(services + "/services", body).expect(200);
        assertTrue(names(root).contains("its"));
        root.with("X-Svc-Vm-Linux-User-Id", "app")
                .get(services + "/services")
                .expect(403, "LINUX_USER_NOT_ALLOWED");
        root.delete(services + "/services/its").expect(200);
        holder("").get(services + "/services").expect(404, "VM_NOT_FOUND");
    }

    /// A new identity that was granted the VM for these users; nothing if that is empty.
    private Client holder(String users) {
        var identity = client.post("/v5/identities", "").expect(200).requiredString("id");
        var own = "/v5/identities/" + identity;
        if (!users.isEmpty()) {
            var grant = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":%s}".formatted(vm, users);
            client.post(own + "/permissions/vm", grant).expect(200);
        }
        return client.withToken(
                client.post(own + "/tokens", "").expect(200).requiredString("token"));
    }

    private Client.Answer post(String path, JsonWriter body) {
        return client.post(services + path, new String(Json.write(body), StandardCharsets.UTF_8));
    }

    private List<JsonObject> act(String verb, String... ids) {
        var list = List.of(ids).stream().map(id -> Map.of("id", id)).toList();
        return post("/" + verb, new JsonWriter().put("services", list))
                .expect(200)
                .requiredObjects("results");
    }

    private List<String> names(Client caller) {
        var names =
                caller.get(services + "/services").expect(200).requiredObjects("services").stream()
                        .map(item -> item.requiredString("name"))
                        .toList();
        assertEquals(names.stream().sorted().toList(), names);
        return names;
    }
}
