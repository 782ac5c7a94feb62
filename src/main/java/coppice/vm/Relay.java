package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.guest.StreamedExec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What a program says on one of its outputs, as it comes and to the end, however much it is. One thread reads.
public final class Relay {
    private static final Duration LOOK = Duration.ofSeconds(30);
    private static final Duration END = Duration.ofSeconds(60);
    private static final Pattern COUNT = Pattern.compile("(\\d{1,9})\\+(\\d{1,9}) records in");
    private static final byte[] NONE = new byte[0];

    private static final byte[] LINE = "\n".getBytes(StandardCharsets.US_ASCII);

    private final StreamRun.Place place;
    private final String script;
    private final Runnable whenSaid;
    private volatile StreamRun part;
    private volatile Optional<StreamRun> next = Optional.empty();
    private volatile boolean hasEnded;
    private volatile boolean isClosed;
    private int taken; // of this part

    /// @param whenSaid told whenever something came
    Relay(StreamRun.Place place, String script, Runnable whenSaid) {
        this.place = place;
        this.script = script;
        this.whenSaid = whenSaid;
        this.part = start(script);
    }

    private StreamRun start(String its) {
        return place.start(its, Map.of("LC_ALL", "C"), PipeScripts.PART);
    }

    /// The next bytes; waits for them as long as the program and whoever has its output from it live. None at the end. Fails with
    /// `UNAVAILABLE` when the VM has stopped or this was closed, and when bytes were lost: never are later ones given for them.
    public byte[] read() {
        while (!hasEnded && !isClosed) {
            switch (part.streams().stdout(Deadline.in(LOOK))) {
                case StreamedExec.Said.Bytes(var bytes) -> {
                    whenSaid.run();
                    prepareNext(bytes.length);
                    return bytes;
                }
                case StreamedExec.Said.Nothing _ -> {}
                case StreamedExec.Said.End _ -> finishPart();
            }
        }
        return NONE;
    }

    /// Nobody reads any more.
    void close() {
        isClosed = true;
        part.abandon();
        next.ifPresent(StreamRun::abandon);
    }

    boolean hasEnded() {
        return hasEnded;
    }

    /// What of it runs in the guest.
    List<ExecId> ids() {
        return Stream.concat(Stream.of(part), next.stream()).map(StreamRun::id).toList();
    }

    /// A long output goes on without a gap: the next part waits in the guest before this one has ended.
    private void prepareNext(int length) {
        taken += length;
        if (taken > PipeScripts.PART / 2 && next.isEmpty() && !isClosed) {
            next = Optional.of(start(PipeScripts.waiting(script)));
        }
    }

    private void finishPart() {
        var outcome = part.await(Deadline.in(END));
        var said = part.complaint();
        if (outcome.output().isTruncated()) {
            throw failure("the guest had no memory for it; try again when less runs there");
        }
        if (!(outcome instanceof ExecOutcome.Exited(int status, _)) || status != 0) {
            throw failure("the guest says: " + said);
        }
        boolean isLast = isLast(said);
        if (isLast) {
            next.ifPresent(waiting -> waiting.streams().endInput());
        } else if (!isClosed) {
            part = next.orElseGet(() -> start(script));
            next.ifPresent(waiting -> waiting.streams().write(LINE, Deadline.in(END)));
        }
        next = Optional.empty();
        taken = 0;
        hasEnded = isLast;
    }

    private static boolean isLast(String said) {
        var count = COUNT.matcher(said);
        if (!count.find()) {
            throw failure("the guest's dd says: " + said);
        }
        return PipeScripts.isLast(
                Integer.parseInt(count.group(1)), Integer.parseInt(count.group(2)));
    }

    private static Failure failure(String why) {
        return new Failure(Code.UNAVAILABLE, "output of the program was lost: " + why);
    }
}
