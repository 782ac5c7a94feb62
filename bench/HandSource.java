import coppice.disk.Published;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// A machine of the floor.
final class HandSource implements Source {
    private final Sample sample;
    private final boolean isFork;
    private final Floor floor;
    private final FloorCapture capturing;
    private final Path capture;
    private Optional<Floor> copy = Optional.empty();

    /// @param isFork whether it is captured by a fork; else by a snapshot
    HandSource(Sample sample, boolean isFork) throws Exception {
        this.sample = sample;
        this.isFork = isFork;
        this.floor = sample.floor();
        this.capturing = FloorCapture.start(floor, sample);
        this.capture = sample.newPlace("capture");
    }

    @Override
    public void exec(String command) throws Exception {
        floor.exec(command);
    }

    @Override
    public long pid() {
        return floor.pid();
    }

    @Override
    public Duration capture() throws Exception {
        if (!isFork) {
            return capturing.snapshot(capture);
        }
        copy = Optional.of(sample.floor());
        return capturing.fork(capture, sample, List.of(copy.get()));
    }

    @Override
    public void forget() throws Exception {
        if (copy.isPresent()) {
            copy.get().close();
        }
        copy = Optional.empty();
        Published.delete(capture);
    }

    @Override
    public void close() throws IOException {
        floor.close();
    }
}
