import coppice.disk.Published;

/// What is done to VMs of one guest image, beside the same by hand.
final class VmBenches {
    private static final String TRUE = "true";
    private static final String FOUR_KIB = "printf %4096s x"; // a builtin of both images' shells
    private static final int WARM_UPS = 2;
    private static final int EXEC_WARM_UPS = 50;

    private final Api api;
    private final Report report;
    private final String image;
    private final Sample sample;

    VmBenches(Api api, Report report, Sample sample) {
        this.api = api;
        this.report = report;
        this.image = sample.image();
        this.sample = sample;
    }

    /// From the start of a stopped VM until its agent answers.
    void boot(int runs) throws Exception {
        var vm = api.createVm(image);
        var path = "/v5/vms/" + vm;
        api.post(path + "/stop", "");
        api.post(path + "/start", "");
        var pair = new Pair();
        try (var floor = sample.floor()) {
            var command =
                    floor.command(
                            RunningQemu.named(vm), sample.volume().resolve("vms").resolve(vm));
            floor.make();
            floor.lay(sample.capture());
            for (int i = 0; i < runs; i++) {
                api.post(path + "/stop", "");
                pair.measure(
                        () -> api.post(path + "/start", ""),
                        () -> floor.boot(command, sample.memory()));
                floor.powerOff();
            }
        }
        api.delete(path);
        report.times(sample.subject("boot", ""), pair.server, pair.floor);
    }

    /// From the wish for a new VM until its first command has ended.
    void create(int runs) throws Exception {
        var pair = new Pair();
        for (int i = -WARM_UPS; i < runs; i++) {
            createOnce(i < 0 ? new Pair() : pair);
        }
        report.times(sample.subject("create", "<= 1.3 x floor"), pair.server, pair.floor);
    }

    private void createOnce(Pair pair) throws Exception {
        var vm = new String[1];
        try (var floor = sample.floor()) {
            pair.measure(
                    () -> {
                        vm[0] = api.createVm(image);
                        api.exec(vm[0], TRUE);
                    },
                    () -> {
                        floor.make();
                        floor.restore(sample.command(floor), sample.capture(), true);
                        floor.exec(TRUE);
                    });
        }
        api.delete("/v5/vms/" + vm[0]);
    }

    /// A command in a VM that runs.
    void exec(int runs) throws Exception {
        var vm = api.createVm(image);
        try (var floor = sample.floor()) {
            floor.make();
            floor.restore(sample.command(floor), sample.capture(), true);
            exec(runs, vm, floor, TRUE, sample.subject("exec", "<= 1.5 x floor"));
            exec(runs, vm, floor, FOUR_KIB, sample.subject("exec-4k", ""));
        }
        api.delete("/v5/vms/" + vm);
    }

    private void exec(int runs, String vm, Floor floor, String command, Report.Subject subject)
            throws Exception {
        var pair = new Pair();
        for (int i = -EXEC_WARM_UPS; i < runs; i++) {
            (i < 0 ? new Pair() : pair)
                    .measure(() -> api.exec(vm, command), () -> floor.exec(command));
        }
        report.times(subject, pair.server, pair.floor);
    }

    /// A VM is paused, and goes on, again and again.
    void pauseAndResume(int runs) throws Exception {
        var vm = api.createVm(image);
        var path = "/v5/vms/" + vm;
        var pauses = new Pair();
        var resumes = new Pair();
        try (var floor = sample.floor()) {
            floor.make();
            floor.restore(sample.command(floor), sample.capture(), true);
            for (int i = -WARM_UPS; i < runs; i++) {
                // Both have done the same work since they last went on.
                api.exec(vm, TRUE);
                floor.exec(TRUE);
                var capture = sample.newPlace("pause");
                (i < 0 ? new Pair() : pauses)
                        .measure(() -> api.post(path + "/pause", ""), () -> floor.pause(capture));
                (i < 0 ? new Pair() : resumes)
                        .measure(
                                () -> api.post(path + "/start", ""),
                                () -> floor.restore(sample.command(floor), capture, false));
                Published.delete(capture);
            }
        }
        api.delete(path);
        report.times(sample.subject("pause", ""), pauses.server, pauses.floor);
        report.times(sample.subject("resume", "<= 1.2 x floor"), resumes.server, resumes.floor);
    }
}
