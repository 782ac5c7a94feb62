package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

/// Calls every legacy operation but those on services.
record EveryOperationLegacy(EveryOperationCaller caller) {
    private static final String USER = "X-Svc-Vm-Linux-User-Id";

    void walk() {
        var base = caller.done("GET /v5/snapshots/svc%2Fbusybox").text("id");
        var vm =
                caller.done(
                                "POST /v1/vms",
                                """
                                {"snapshotId":"%s","workdir":"/srv/app","ports":[],"idleTimeoutSeconds":-1,
                                 "waitForReadySignal":true,"readySignalTimeoutSeconds":60,"activityThresholdBytes":5,
                                 "persistence":{"type":"sticky","priority":3},"rootfsSizeGb":2,"domains":[],
                                 "groups":[{"name":"team","gid":3000}],"users":[{"name":"app","groups":["team"]}],
                                 "additionalFiles":{"/srv/app/a":{"content":"AAH/","encoding":"base64","executable":true}}}
                                """
                                        .formatted(base))
                        .text("id");
        var path = "/v1/vms/" + vm;
        refuseCreates();
        caller.done("GET " + path);
        use(path);
        files(path);
        terminals(vm, path);
        snapshots(path);
        people(vm);
        background(path);
        states(path);
        caller.done("DELETE " + path);
        caller.refused(404, "VM_NOT_FOUND", "DELETE " + path);
        caller.refused(410, "VM_DELETED", "POST " + path + "/start");
        caller.done("GET /v1/vms?includeDeleted=true&limit=10&offset=0");
    }

    private void refuseCreates() {
        caller.refused(400, "CREATE_VM_BAD_REQUEST", "POST /v1/vms", "{\"workdir\":\"relative\"}");
        caller.refused(
                400,
                "DUPLICATE_USER_NAME",
                "POST /v1/vms",
                "{\"users\":[{\"name\":\"a\"},{\"name\":\"a\"}]}");
        caller.refused(
                400, "GROUP_NAME_RESERVED", "POST /v1/vms", "{\"groups\":[{\"name\":\"root\"}]}");
        caller.refused(
                400,
                "SERVICE_NAME_EMPTY",
                "POST /v1/vms",
                "{\"systemd\":{\"services\":[{\"name\":\"\",\"mode\":\"service\",\"exec\":[\"true\"]}]}}");
    }

    private void use(String path) {
        var exec = "POST " + path + "/exec-await";
        caller.with(USER, "app").done(exec, "{\"command\":\"id\",\"timeoutMs\":20000}");
        caller.done(exec, "{\"command\":\"exec sleep 9\",\"timeoutMs\":100}");
        caller.refused(400, "BAD_REQUEST", exec, "{}");
        caller.with(USER, "none").refused(400, "BAD_REQUEST", exec, "{\"command\":\"id\"}");
    }

    private void files(String path) {
        var file = path + "/files/%2Fsrv%2Fapp%2Fa";
        caller.done("GET " + file);
        caller.done("PUT " + file, "{\"content\":\"text\",\"encoding\":\"utf8\"}");
        caller.done("GET " + file);
        caller.done("GET " + path + "/files/%2Fsrv%2Fapp");
        caller.refused(404, "FILE_NOT_FOUND", "GET " + path + "/files/none");
        caller.refused(
                400,
                "FILES_BAD_REQUEST",
                "PUT " + file,
                "{\"content\":\"?\",\"encoding\":\"base64\"}");
        caller.with(USER, "app")
                .refused(
                        403,
                        "ACCESS_DENIED",
                        "PUT " + path + "/files/%2Fetc%2Fpasswd",
                        "{\"content\":\"mine\"}");
        caller.done("POST " + path + "/watch-files");
    }

    private void terminals(String vm, String path) {
        caller.at("/v5").terminal("/vms/" + vm + "/pty?slug=one&exec=echo%20hello").cut();
        caller.done("GET " + path + "/terminals");
        caller.done("GET " + path + "/terminals/one/logs");
        caller.done("GET " + path + "/terminals/one/xterm-256color");
        caller.refused(404, "NOT_FOUND", "GET " + path + "/terminals/two/logs");
    }

    private void snapshots(String path) {
        var taken =
                caller.done(
                        "POST " + path + "/snapshot",
                        "{\"name\":\"Shot\",\"persistence\":\"sticky\"}");
        var shot = "/v1/vms/snapshots/" + taken.text("snapshotId");
        caller.refused(
                400,
                "SNAPSHOT_VM_BAD_REQUEST",
                "POST " + path + "/snapshot",
                "{\"persistence\":\"?\"}");
        caller.done("PATCH " + shot, "{\"name\":null}");
        caller.refused(400, "BAD_REQUEST", "PATCH " + shot, "{\"name\":\"\\n\"}");
        caller.done("DELETE " + shot);
        caller.refused(409, "SNAPSHOT_ALREADY_DELETED", "DELETE " + shot);
        caller.done(
                "GET /v1/vms/snapshots?includeDeleted=true&includeFailed=true&limit=10&offset=0");
        var template = "{\"name\":\"Built\",\"template\":{%s}}";
        var build = "POST /v1/vms/snapshots";
        caller.refused(503, "UNAVAILABLE", build, template.formatted("\"vcpuCount\":1"));
        caller.refused(
                400, "CREATE_SNAPSHOT_BAD_REQUEST", build, template.formatted("\"vcpuCount\":0"));
        caller.refused(
                404,
                "SNAPSHOT_NOT_FOUND",
                build,
                template.formatted("\"snapshotId\":\"sh-00000000000000000000\""));
    }

    private void people(String vm) {
        caller.done("GET /auth/v1/whoami");
        var identities = "/identity/v1/identities";
        var identity = identities + "/" + caller.done("POST " + identities, "{}").text("id");
        caller.done("GET " + identities + "?includeManaged=true&limit=10&offset=0");
        var token = caller.done("POST " + identity + "/tokens");
        caller.done("GET " + identity + "/tokens");
        caller.withToken(token.text("token")).done("GET /auth/v1/whoami");
        var grant = identity + "/permissions/vm/" + vm;
        caller.done("POST " + grant, "{\"allowedUsers\":[\"app\"]}");
        caller.refused(409, "PERMISSION_ALREADY_EXISTS", "POST " + grant);
        caller.done("GET " + identity + "/permissions/vm?limit=10&offset=0");
        caller.done("GET " + grant);
        caller.withToken(token.text("token"))
                .refused(403, "LINUX_USER_NOT_ALLOWED", "GET /v1/vms/" + vm + "/files/a");
        caller.done("PUT " + grant, "{\"allowedUsers\":null}");
        caller.done("DELETE " + grant);
        caller.refused(404, "VM_PERMISSION_NOT_FOUND", "GET " + grant);
        caller.done("DELETE " + identity + "/tokens/" + token.text("id"));
        caller.done("DELETE " + identity);
        caller.refused(404, "IDENTITY_NOT_FOUND", "DELETE " + identity);
        managed(identities);
    }

    private void managed(String identities) {
        var managed = caller.done("POST " + identities, "{\"managed\":true}").text("id");
        var identity = identities + "/" + managed;
        caller.refused(403, "CANNOT_DELETE_MANAGED_IDENTITY", "DELETE " + identity);
        caller.refused(403, "CANNOT_MODIFY_MANAGED_IDENTITY", "POST " + identity + "/tokens");
    }

    private void background(String path) {
        var begun =
                caller.with("x-svc-background-after-secs", "0")
                        .done("POST " + path + "/exec-await", "{\"command\":\"sleep 1\"}");
        assertEquals(202, begun.status());
        caller.done("GET /auth/v1/background-requests/" + begun.text("requestId"));
        caller.done("GET /auth/v1/background-test?sleepSecs=0&message=hello");
        caller.refused(400, "BAD_REQUEST", "GET /auth/v1/background-test?sleepSecs=-1");
    }

    private void states(String path) {
        var forked = caller.done("POST " + path + "/fork", "{\"count\":1,\"ports\":[]}");
        caller.done("DELETE /v1/vms/" + forked.json().at("/forks/0/id").asString());
        caller.done("POST " + path + "/suspend");
        caller.done("GET " + path);
        caller.done(
                "POST " + path + "/start",
                "{\"idleTimeoutSeconds\":600,\"waitForReadySignal\":null}");
        caller.done("POST " + path + "/optimize");
        caller.done("POST " + path + "/stop");
        caller.refused(400, "VM_NOT_RUNNING", "POST " + path + "/suspend");
        caller.done("GET " + path);
        caller.done("POST " + path + "/await");
        caller.done("POST " + path + "/resize", "{\"vcpuCount\":2}");
        caller.refused(400, "BAD_REQUEST", "POST " + path + "/resize", "{\"vcpuCount\":0}");
        caller.done("GET /v1/vms");
        caller.done("POST " + path + "/kill");
    }
}
