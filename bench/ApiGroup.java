import coppice.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/// The group `api`: what the server does with calls that start nothing.
final class ApiGroup {
    private static final String IMAGE = "busybox";
    private static final int GETS = 20_000;
    private static final int LISTS = 300;
    private static final int IDENTITIES = 1000;
    private static final int VMS = 10_000;
    private static final int CREATORS = 8;
    private static final String SOON = "p99 <= 50 ms";
    private static final String VM_LIST = "/v5/vms";
    private static final String IDENTITY_LIST = "/v5/identities";

    /// What the account has when nothing is said of it.
    private static final int FEW = 20;

    private final Program program;
    private final Report report;
    private final Wanted wanted;

    ApiGroup(Program program, Report report, Wanted wanted) {
        this.program = program;
        this.report = report;
        this.wanted = wanted;
    }

    void run() throws Exception {
        program.stop();
        Store.unpackInto(program.data().resolve("bench-native"));
        program.buildImages(List.of(IMAGE));
        program.start();
        try (var api = program.client("api")) {
            var vm = vm(api);
            fillVms(api, vm, 1, FEW);
            var identity = fillIdentities(api, FEW);
            var head = head(api, vm);
            if (wanted.has("api-get")) {
                get(api, vm, head);
            }
            try (var floor = BareHttp.start(program, "BareServer", head)) {
                if (wanted.has("api-load")) {
                    LoadBench.run(program, report, api, paths(vm, identity), wanted.seconds());
                }
                lists(api, vm, new ListBench(report, api, floor.port()));
            }
        }
    }

    private void get(Api api, String vm, String head) throws Exception {
        try (var floor = BareHttp.start(program, "BareServer", head);
                var engine = BareHttp.start(program, "BareEngine", head)) {
            new GetBench(report, api, floor.port(), engine.port()).run(path(vm), runs(GETS));
        }
    }

    private void lists(Api api, String vm, ListBench bench) throws Exception {
        if (wanted.has("api-list-identities")) {
            fillIdentities(api, IDENTITIES - FEW);
            bench.run("api-list-identities", IDENTITY_LIST, SOON, runs(LISTS));
        }
        if (wanted.has("api-list-vms")) {
            fillVms(api, vm, FEW + 1, VMS - 1);
            bench.run("api-list-vms", VM_LIST, SOON, runs(LISTS));
            bench.run("api-list-vms-1000", VM_LIST + "?limit=1000", SOON, runs(LISTS));
            bench.run("api-list-vms-20", VM_LIST + "?limit=20", "", runs(LISTS));
            requireVms(api, VMS);
        }
    }

    /// One that is powered off, so that it takes no time from what is measured.
    private static String vm(Api api) throws IOException {
        var more = ",\"slug\":\"original\",\"metadata\":{\"role\":\"web\",\"stage\":\"test\"}";
        var vm = api.createVm("svc/" + IMAGE, more).requiredString("id");
        api.post(path(vm) + "/kill", "");
        return vm;
    }

    private static String path(String vm) {
        return VM_LIST + "/" + vm;
    }

    private static BusyCallers.Paths paths(String vm, String identity) {
        return new BusyCallers.Paths(
                path(vm),
                VM_LIST + "?limit=" + FEW,
                IDENTITY_LIST + "/" + identity,
                IDENTITY_LIST + "?limit=" + FEW);
    }

    /// Of the answer that tells of the VM.
    private static String head(Api api, String vm) throws IOException {
        try (var board = new Switchboard(api.port())) {
            return board.askAlone(board.open(), api.reading(path(vm))).head();
        }
    }

    /// Copies of the record of a VM, and a server that was started with them.
    private void fillVms(Api api, String vm, int from, int to) throws Exception {
        program.stop();
        VmCopies.write(program.data(), program.volume().resolve("vms"), vm, from, to);
        program.start();
        requireVms(api, to + 1);
    }

    /// None is gone, and none was started.
    private void requireVms(Api api, long count) throws IOException {
        try (var fresh = api.another();
                var log = Files.lines(program.log())) {
            var counts = fresh.get(VM_LIST + "?limit=0");
            if (counts.requiredInteger("totalCount") != count
                    || counts.requiredInteger("stoppedCount") != count) {
                throw new IllegalStateException("not %d stopped VMs: %s".formatted(count, counts));
            }
            if (log.anyMatch(line -> line.contains("could not be recovered"))) {
                throw new IllegalStateException("the server does not take the copies for VMs");
            }
        }
    }

    /// @return one of them
    private static String fillIdentities(Api api, int count) throws Exception {
        var connections = new ArrayList<Api>();
        for (int i = 0; i < CREATORS; i++) {
            connections.add(api.another());
        }
        var creating = new Crowd(CREATORS, i -> connections.get(i).post(IDENTITY_LIST, "{}"));
        creating.round(count);
        for (var connection : connections) {
            connection.close();
        }
        try (var fresh = api.another()) {
            return fresh.get(IDENTITY_LIST + "?limit=1")
                    .requiredObjects("identities")
                    .getFirst()
                    .requiredString("id");
        }
    }

    private int runs(int usual) {
        return wanted.runs().orElse(usual);
    }
}
