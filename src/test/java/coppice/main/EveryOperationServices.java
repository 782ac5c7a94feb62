package coppice.main;

/// Calls every operation on the services inside a VM with systemd.
record EveryOperationServices(EveryOperationCaller caller) {

    void walk() {
        var base = caller.done("GET /v5/snapshots/svc%2Fdebian").text("id");
        var body =
                """
                {"snapshotId":"%s","ports":[],
                 "systemd":{"services":[{"name":"early","mode":"oneshot","exec":["true"],"readySignal":true}],
                            "patchedServices":[{"name":"console-getty","timeoutSec":7}]}}
                """
                        .formatted(base);
        var vm = "/v1/vms/" + caller.done("POST /v1/vms", body).text("id");
        var all = vm + "/systemd";
        var web = all + "/services/web";
        caller.done(
                "POST " + all + "/services",
                """
                {"name":"web","mode":"service","exec":["exec sleep 1000"],"env":{"A":"b"},"user":"root","group":null,
                 "restartPolicy":{"policy":"always","restartSec":1},"after":["network.target"],"enable":true}
                """);
        var again = "{\"name\":\"web\",\"mode\":\"service\",\"exec\":[\"true\"]}";
        caller.refused(409, "SERVICE_ALREADY_EXISTS", "POST " + all + "/services", again);
        caller.refused(
                400, "SERVICE_NAME_EMPTY", "POST " + all + "/services", again.replace("web", ""));
        caller.done("GET " + all + "/services");
        caller.with("X-Svc-Vm-Linux-User-Id", "nobody-here")
                .refused(404, "USER_NOT_FOUND", "GET " + all + "/services");
        caller.done("GET " + web + "/status");
        for (var verb : new String[] {"stop", "start", "restart"}) {
            caller.done(
                    "POST " + all + "/" + verb,
                    "{\"services\":[{\"id\":\"web\"},{\"id\":\"none\"}]}");
            caller.refused(
                    400, "VALIDATION_ERROR", "POST " + all + "/" + verb, "{\"services\":[]}");
        }
        caller.done("GET " + web + "/logs?lines=10&since=2026-01-01T00:00:00Z");
        caller.refused(400, "VALIDATION_ERROR", "GET " + web + "/logs?lines=0");
        caller.done("DELETE " + web);
        caller.refused(404, "SERVICE_NOT_FOUND", "GET " + web + "/status");
        caller.done("DELETE " + vm);
    }
}
