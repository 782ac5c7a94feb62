import java.io.IOException;
import java.time.Duration;

/// A VM of the server.
final class ServerSource implements Source {
    private final Api api;
    private final ServerLog log;
    private final boolean isFork;
    private final String vm;
    private final String path;
    private String made = "";

    /// @param isFork whether it is captured by a fork; else by a snapshot
    ServerSource(Api api, ServerLog log, String image, boolean isFork) throws IOException {
        this.api = api;
        this.log = log;
        this.isFork = isFork;
        this.vm = api.createVm(image);
        this.path = "/v5/vms/" + vm;
    }

    @Override
    public void exec(String command) throws IOException {
        api.exec(vm, command);
    }

    @Override
    public long pid() throws IOException {
        return RunningQemu.named(vm).pid();
    }

    @Override
    public Duration capture() throws IOException {
        log.mark();
        made =
                isFork
                        ? "/v5/vms/" + api.fork(vm, 1).getFirst()
                        : "/v5/snapshots/"
                                + api.post(path + "/snapshot", "").requiredString("snapshotId");
        return log.stopped(vm);
    }

    @Override
    public void forget() throws IOException {
        api.delete(made);
    }

    @Override
    public void close() throws IOException {
        api.delete(path);
    }
}
