import java.nio.ByteBuffer;

/// One large file into a VM and out of it, beside the same bytes over a port without anything.
final class FileBenches {
    private static final String PATH = "/bench/file";

    /// What clients send at once.
    private static final long CHUNK = 8 << 20;

    private static final int WARM_UPS = 1;
    private static final String WRITE = "write";
    private static final String READ = "read";
    private static final String WRITTEN = "written";

    /// As the agent leaves a file: whole, in its place in one step, on the disk.
    private static final String PROGRAM =
            """
            mkdir -p /bench; cd /bench; while read -r what; do case $what in \
            %s) dd of=new bs=256k count=%d iflag=fullblock conv=fsync && mv -f new file && sync . && echo %s || echo failed;; \
            %s) cat file;; esac; done""";

    private static final int DD_BLOCKS_A_MIB = 4;

    private final Api api;
    private final Report report;
    private final Sample sample;

    FileBenches(Api api, Report report, Sample sample) {
        this.api = api;
        this.report = report;
        this.sample = sample;
    }

    /// @param mib size of the file
    void run(int runs, int mib) throws Exception {
        var vm = api.createVm(sample.image());
        var content = Content.random((long) mib << 20);
        var writes = new Pair();
        var reads = new Pair();
        var uploads = new Stats();
        var program = PROGRAM.formatted(WRITE, mib * DD_BLOCKS_A_MIB, WRITTEN, READ);
        try (var floor = sample.floor()) {
            floor.make();
            floor.restore(sample.command(floor), sample.capture(), true);
            try (var port = BarePort.open(floor, program)) {
                var block = ByteBuffer.allocateDirect(content.block().length);
                block.put(content.block());
                for (int i = -WARM_UPS; i < runs; i++) {
                    var upload = Step.time(() -> api.uploadFile(vm, PATH, content, CHUNK));
                    (i < 0 ? new Pair() : writes)
                            .measure(
                                    () -> api.writeFile(vm, PATH, content),
                                    () -> write(port, block, mib));
                    (i < 0 ? new Pair() : reads)
                            .measure(
                                    () -> api.readFile(vm, PATH, content.length()),
                                    () -> read(port, content.length()));
                    if (i >= 0) {
                        uploads.add(upload);
                    }
                }
            }
        }
        api.delete("/v5/vms/" + vm);
        report.note("files: %d MiB in each".formatted(mib));
        tell("files-write", ">= 0.7 x floor", mib, writes.server, writes.floor);
        tell("files-read", ">= 0.7 x floor", mib, reads.server, reads.floor);
        tell("files-upload", "", mib, uploads, writes.floor);
    }

    private static void write(BarePort port, ByteBuffer mebibyte, int mib) throws Exception {
        port.say(WRITE);
        for (int i = 0; i < mib; i++) {
            port.write(mebibyte.rewind());
        }
        port.expect(WRITTEN);
    }

    private static void read(BarePort port, long length) throws Exception {
        port.say(READ);
        port.skip(length);
    }

    private void tell(String name, String target, int mib, Stats server, Stats floor)
            throws Exception {
        report.rates(
                sample.subject(name, target),
                Report.Rate.MIB,
                server.perSecond(mib),
                floor.perSecond(mib));
    }
}
