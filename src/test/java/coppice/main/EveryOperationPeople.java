package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

/// Calls every operation on identities, and some as one.
record EveryOperationPeople(EveryOperationCaller caller) {

    void walk() {
        var vm = caller.done("POST /vms", "{\"firewall\":{\"rules\":[]}}").text("id");
        var id = caller.done("POST /identities", "{\"managed\":false}").text("id");
        var identity = "/identities/" + id;
        caller.done("GET /identities?includeManaged=true&limit=10&offset=0");
        caller.refused(400, "BAD_REQUEST", "GET /identities?includeManaged=perhaps");
        caller.refused(400, "BAD_REQUEST", "POST /identities", "{\"managed\":1}");
        caller.done("GET " + identity);
        var once = caller.with("Idempotency-Key", "one");
        once.done("POST /identities", "{}");
        once.done("POST /identities", "{}");
        once.refused(409, "CONFLICT", "POST /identities", "{\"managed\":false}");
        var made = caller.done("POST " + identity + "/tokens");
        caller.done("GET " + identity + "/tokens?limit=10&offset=0");
        grants(identity + "/permissions/vm", vm, caller.withToken(made.text("token")));
        caller.done("DELETE " + identity + "/tokens/" + made.text("id"));
        caller.refused(404, "NOT_FOUND", "DELETE " + identity + "/tokens/" + made.text("id"));
        caller.done("DELETE " + identity);
        caller.refused(404, "IDENTITY_NOT_FOUND", "GET " + identity);
        var managed = caller.done("POST /identities", "{\"managed\":true}").text("id");
        caller.refused(400, "MANAGED_IDENTITY_DELETE", "DELETE /identities/" + managed);
        caller.done("DELETE /vms/" + vm);
    }

    /// By the paths of the first clients.
    void walkOldest() {
        var identities = "/git/v1/identity";
        var id = caller.done("POST " + identities).text("id");
        var identity = identities + "/" + id;
        caller.done("GET " + identities + "?includeManaged=true&limit=10&offset=0");
        for (var form : List.of("/%s", "")) {
            var token = caller.done("POST " + identity + "/tokens").text("id");
            caller.done("GET " + identity + "/tokens");
            var path = identity + "/tokens" + form.formatted(token);
            var body = form.isEmpty() ? "{\"tokenId\":\"%s\"}".formatted(token) : "";
            caller.done("DELETE " + path, body);
            caller.refused(404, "NOT_FOUND", "DELETE " + path, body);
        }
        caller.done("DELETE " + identity);
        caller.refused(404, "IDENTITY_NOT_FOUND", "GET " + identity + "/tokens");
    }

    private void grants(String grants, String vm, EveryOperationCaller holder) {
        var grant = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":[\"app\"]}".formatted(vm);
        holder.refused(404, "NOT_FOUND", "GET /vms/" + vm);
        caller.done("POST " + grants, grant);
        caller.refused(404, "NOT_FOUND", "POST " + grants, "{\"vmId\":\"none\"}");
        caller.done("GET " + grants + "?limit=10&offset=0");
        caller.done("GET " + grants + "/" + vm);
        holder.done("GET /vms/" + vm);
        holder.refused(403, "FORBIDDEN", "DELETE /vms/" + vm);
        holder.refused(
                403,
                "LINUX_USER_NOT_ALLOWED",
                "POST /vms/" + vm + "/exec-await",
                "{\"command\":\"true\",\"linuxUser\":\"root\"}");
        var asRoot = holder.answer("GET /vms/" + vm + "/fs/stat?path=/", new byte[0]);
        assertEquals(403, asRoot.status(), asRoot::toString);
        caller.done("PATCH " + grants + "/" + vm, "{\"allowedLinuxUsers\":null}");
        caller.refused(
                400, "BAD_REQUEST", "PATCH " + grants + "/" + vm, "{\"allowedLinuxUsers\":[]}");
        caller.done("GET " + grants);
        caller.done("DELETE " + grants + "/" + vm);
        caller.refused(404, "VM_PERMISSION_NOT_FOUND", "DELETE " + grants + "/" + vm);
    }
}
