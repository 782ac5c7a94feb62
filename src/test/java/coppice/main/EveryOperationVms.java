package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Wait;
import java.time.Duration;

/// Calls every operation on VMs, their files, terminals and snapshots, and on background requests.
record EveryOperationVms(EveryOperationCaller caller) {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// @param network the slug of a private network
    void walk(String network) {
        var vm = created(network);
        var path = "/vms/" + vm;
        caller.refused(
                409, "CONFLICT", "POST /vms", "{\"slug\":\"web\",\"firewall\":{\"rules\":[]}}");
        caller.refused(400, "BAD_REQUEST", "POST /vms", "{}");
        caller.done("GET " + path);
        caller.done("GET /vms?state=running&slug=web&metadata=tier:front&limit=5&offset=0");
        caller.done("GET /vms?snapshotId=svc%2Fbusybox");
        caller.done(
                "PATCH " + path,
                "{\"displayName\":\"Second\",\"metadata\":{\"tier\":\"back\"},\"ttlSeconds\":-1}");
        run(path);
        defer(path);
        files(path + "/fs");
        terminals(path + "/pty");
        snapshots(path);
        copies(path);
        states(path);
        caller.done("DELETE " + path);
        caller.refused(404, "NOT_FOUND", "GET " + path);
    }

    private String created(String network) {
        return caller.done(
                        "POST /vms",
                        """
                        {"slug":"web","reassignSlug":true,"displayName":"Web","automaticRestart":false,
                         "snapshotId":"svc/busybox","metadata":{"tier":"front"},
                         "idleTimeoutSeconds":3600,"autoDeleteSeconds":3600,"ttlSeconds":86400,
                         "maxRunSeconds":3600,"maxRunTotalSeconds":7200,
                         "vpcs":[{"vpcId":"%s","ipv4":true,"routes":[{"cidr":"10.9.0.0/16","via":"10.77.0.9","metric":5}]}],
                         "placement":{"antiAffinity":[{"topology":"node","selector":{"matchLabels":{"no":"one"}}}]},
                         "tls":{"rules":[]},
                         "firewall":{"rules":[
                           {"action":"allow","source":{},"destination":{"public":true},"description":"out"},
                           {"action":"allow","source":{"vpcId":"%s"},"destination":{"port":80,"protocol":"tcp"}}]}}
                        """
                                .formatted(network, network))
                .text("id");
    }

    private void run(String path) {
        var ended =
                caller.done(
                        "POST " + path + "/exec-await",
                        """
                        {"command":"cat; echo $A; exit 3","env":{"A":"b"},"stdin":"aGkK","timeoutMs":20000,"linuxUser":"root"}
                        """);
        assertEquals("hi\nb\n", ended.text("stdout"));
        var late = "{\"command\":\"exec sleep 9\",\"timeoutMs\":100}";
        caller.done("POST " + path + "/exec-await", late);
        var much = "{\"command\":\"head -c 9000000 /dev/zero | tr '\\\\\\\\0' x\"}";
        assertEquals(
                true,
                caller.done("POST " + path + "/exec-await", much)
                        .json()
                        .path("truncated")
                        .asBoolean(false));
        caller.refused(
                400,
                "BAD_REQUEST",
                "POST " + path + "/exec-await",
                "{\"command\":\"true\",\"linuxUser\":\"nobody-here\"}");
    }

    /// What goes on in the background is answered as it would have been at once, whatever that is.
    private void defer(String path) {
        var patient = caller.with("x-svc-background-after-secs", "0");
        poll(patient.done("POST " + path + "/exec-await", "{\"command\":\"sleep 1\"}"), 200);
        poll(patient.done("DELETE /vms/" + spare()), 204);
        poll(patient.answer("POST " + path + "/resize", "{\"cpu\":0}".getBytes(UTF_8)), 400);
        caller.refused(404, "NOT_FOUND", "GET /background-requests/bg-00000000000000000000");
    }

    private String spare() {
        return caller.done("POST /vms", "{\"firewall\":{\"rules\":[]}}").text("id");
    }

    /// One that is over at once was not deferred.
    private void poll(EveryOperationAnswer begun, int wanted) {
        if (begun.status() != 202) {
            assertEquals(wanted, begun.status(), begun::toString);
            return;
        }
        var poll = "GET /background-requests/" + begun.text("requestId");
        Wait.until(
                PATIENCE,
                () -> caller.answer(poll, new byte[0]).status() != 202,
                () -> begun + " goes on");
        assertEquals(wanted, caller.answer(poll, new byte[0]).status(), begun::toString);
        if (wanted < 400) {
            caller.done(poll);
        }
    }

    private void files(String fs) {
        caller.done("PUT " + fs + "/write?path=/tmp/a&mode=420", "hello");
        caller.refused(
                400,
                "CHECKSUM_MISMATCH",
                "PUT " + fs + "/write?path=/tmp/b&sha256=" + "0".repeat(64),
                "hello");
        caller.done("GET " + fs + "/read?path=/tmp/a");
        assertEquals(
                206,
                caller.with("Range", "bytes=1-2").done("GET " + fs + "/read?path=/tmp/a").status());
        caller.with("Range", "bytes=100-")
                .refused(416, "RANGE_NOT_SATISFIABLE", "GET " + fs + "/read?path=/tmp/a");
        caller.done("GET " + fs + "/dir?path=/tmp");
        caller.refused(400, "BAD_REQUEST", "GET " + fs + "/dir?path=/tmp/a");
        caller.done("POST " + fs + "/mkdir", "{\"path\":\"/tmp/d\"}");
        caller.done("GET " + fs + "/stat?path=/tmp/d");
        caller.refused(404, "FILE_NOT_FOUND", "GET " + fs + "/stat?path=/tmp/none");
        caller.done("GET " + fs + "/exists?path=/tmp/none");
        // What a kernel says to these is its affair.
        caller.answer("PUT " + fs + "/write?path=/proc/version", "mine".getBytes(UTF_8));
        caller.answer("PUT " + fs + "/write?path=/proc/mine", "mine".getBytes(UTF_8));
        caller.answer("DELETE " + fs + "/remove?path=/proc", new byte[0]);
        caller.done("DELETE " + fs + "/remove?path=/tmp/d");
        uploads(fs + "/uploads");
    }

    private void uploads(String uploads) {
        var wanted = "{\"path\":\"/tmp/u\",\"size\":3,\"mode\":420}";
        var first = uploads + "/" + caller.done("POST " + uploads, wanted).text("uploadId");
        caller.refused(409, "CONFLICT", "POST " + first + "/commit");
        caller.refused(400, "BAD_REQUEST", "PUT " + first + "?offset=0", "too much");
        caller.done("PUT " + first + "?offset=0", "abc");
        caller.done("GET " + first);
        caller.done("POST " + first + "/commit");
        caller.refused(404, "NOT_FOUND", "GET " + first);
        caller.done(
                "DELETE "
                        + uploads
                        + "/"
                        + caller.done("POST " + uploads, wanted).text("uploadId"));
    }

    private void terminals(String pty) {
        caller.terminal(pty + "?slug=one&cols=90&rows=30&exec=cat").cut();
        caller.done("GET " + pty + "/sessions?linuxUser=root");
        caller.terminal(pty + "/sessions/one").cut();
        caller.refused(426, "UPGRADE_REQUIRED", "GET " + pty);
        caller.refused(426, "UPGRADE_REQUIRED", "GET " + pty + "/sessions/one");
        caller.done("DELETE " + pty + "/sessions/one");
        caller.refused(404, "NOT_FOUND", "DELETE " + pty + "/sessions/one");
        caller.terminal(pty + "?exec=exit%203").cut();
        caller.done("GET " + pty + "/sessions");
    }

    private void snapshots(String path) {
        var wanted =
                "{\"slug\":\"shot\",\"displayName\":\"Shot\",\"autoDeleteSeconds\":3600,\"ttlSeconds\":3600}";
        var snapshot = caller.done("POST " + path + "/snapshot", wanted).text("snapshotId");
        caller.refused(409, "CONFLICT", "POST " + path + "/snapshot", wanted);
        caller.done("GET /snapshots?sourceVmId=web&search=sho&limit=1&offset=0");
        caller.done("GET /snapshots/" + snapshot);
        caller.done("GET /snapshots/svc%2Fbusybox");
        caller.done("PATCH /snapshots/shot", "{\"displayName\":\"\",\"ttlSeconds\":-1}");
        caller.refused(404, "NOT_FOUND", "PATCH /snapshots/svc%2Fbusybox", "{}");
        caller.refused(400, "BAD_REQUEST", "PATCH /snapshots/shot", "{\"slug\":\"No Slug\"}");
        caller.done("DELETE /snapshots/shot");
    }

    private void copies(String path) {
        var forked =
                caller.done(
                        "POST " + path + "/fork",
                        "{\"count\":1,\"displayName\":\"Copy\",\"metadata\":{},\"firewall\":{\"rules\":[]}}");
        caller.refused(400, "BAD_REQUEST", "POST " + path + "/fork", "{\"count\":11}");
        caller.done("DELETE /vms/" + forked.json().at("/vms/0/id").asString());
    }

    private void states(String path) {
        long storage = caller.done("GET " + path).json().at("/resources/storage").asLong();
        caller.done("POST " + path + "/resize", "{\"storage\":%d}".formatted(storage + 16));
        caller.done("POST " + path + "/pause");
        caller.done("POST " + path + "/start");
        caller.done("POST " + path + "/stop");
        caller.refused(409, "CONFLICT", "POST " + path + "/pause");
        caller.refused(409, "CONFLICT", "POST " + path + "/snapshot");
        caller.refused(400, "BAD_REQUEST", "POST " + path + "/resize", "{}");
        caller.done("POST " + path + "/start", "{}");
        caller.done("POST " + path + "/kill");
    }
}
