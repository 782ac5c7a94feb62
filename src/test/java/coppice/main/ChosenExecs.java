package coppice.main;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Exec;
import coppice.guest.ExecAttempt;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.guest.Generation;
import coppice.guest.Greeting;
import coppice.guest.Guest;
import coppice.guest.Hello;
import coppice.guest.RunningExec;
import coppice.qemu.MachineFiles;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.ToLongFunction;

/// Commands that are started while there is no server, under ids that the test has chosen, and left. When there is none the next time
/// they are found again by their ids, whatever was done to their VM in between.
final class ChosenExecs {
    private static final int LIMIT = 1 << 20;
    private static final int KEPT = 4 << 20;
    private static final int ENTROPY = 64;
    private static final int SIGCONT = 18;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Installation installation;
    private final Random random;
    private final Story story;
    private final List<Chosen> left = new ArrayList<>();

    /// @param said what commands of its VM had said before it
    private record Chosen(String vm, ExecId id, Numbers numbers, int bytes, int status, long said) {
        Exec exec() {
            int half = bytes / 2;
            var more = new Numbers(numbers.from() + half / Numbers.LINE);
            return new Exec(
                    id,
                    "%s; sleep 0.3; (%s) >&2; exit %d"
                            .formatted(numbers.writing(bytes), more.writing(half), status),
                    Optional.empty(),
                    Map.of(),
                    new byte[0],
                    Duration.ofMinutes(1),
                    LIMIT,
                    Optional.empty());
        }

        void require(ExecOutcome outcome) {
            var output = outcome.output();
            assertEquals(Optional.of(status), outcome.shellStatus());
            assertEquals(bytes, output.stdoutLength());
            int kept = Math.min(bytes, LIMIT);
            assertArrayEquals(numbers.part(0, kept), output.stdout());
            int half = bytes / 2;
            var more = new Numbers(numbers.from() + half / Numbers.LINE);
            assertArrayEquals(more.part(0, half), output.stderr());
        }
    }

    ChosenExecs(Installation installation, Random random, Story story) {
        this.installation = installation;
        this.random = random;
        this.story = story;
    }

    /// Looks for what was left in these VMs, and leaves something new. Those that do not run are passed over.
    ///
    /// @param said how much commands of a VM have said
    void goOn(List<String> vms, ToLongFunction<String> said) {
        for (var vm : vms) {
            try (var guest = guest(vm)) {
                left.stream()
                        .filter(one -> one.vm().equals(vm))
                        .forEach(one -> find(guest, one, said.applyAsLong(vm) - one.said()));
                left.removeIf(one -> one.vm().equals(vm));
                for (int i = 0; i < 2; i++) {
                    leave(guest, vm, said.applyAsLong(vm));
                }
            } catch (IOException e) {
                story.tell(vm + " does not run");
            }
        }
    }

    private Guest guest(String vm) throws IOException {
        var files = new MachineFiles(installation.data().resolve("volume/vms").resolve(vm));
        var channel = SocketChannel.open(UnixDomainSocketAddress.of(files.agent()));
        var entropy = new byte[ENTROPY];
        random.nextBytes(entropy);
        var hello =
                new Hello(
                        new Generation(UUID.randomUUID()),
                        InstantSource.system(),
                        entropy,
                        Optional.empty());
        try {
            if (Guest.connect(vm, channel, hello, Deadline.in(Duration.ofSeconds(3)))
                    instanceof Greeting.Welcomed(var guest)) {
                return guest;
            }
        } catch (Failure e) {
            // It is stopped for a capture that a dead server was making.
            throw new IOException(e);
        }
        throw new AssertionError("the agent refuses to go on");
    }

    /// @param saidSince of which a guest of 128 MiB keeps an eighth of its memory
    private void find(Guest guest, Chosen chosen, long saidSince) {
        var attempt = guest.run(RunningExec.attached(chosen.id(), LIMIT), Deadline.in(PATIENCE));
        if (attempt instanceof ExecAttempt.Ended(var outcome)) {
            chosen.require(outcome);
            story.tell("found " + chosen.id().value() + " again");
        } else if (saidSince < KEPT) {
            throw new AssertionError("%s came of %s".formatted(attempt, chosen));
        }
    }

    private void leave(Guest guest, String vm, long said) {
        int bytes = random.nextInt(random.nextBoolean() ? 1000 : LIMIT + 1000);
        var chosen =
                new Chosen(
                        vm,
                        new ExecId(UUID.randomUUID()),
                        Numbers.any(random, 2 * bytes),
                        bytes,
                        random.nextInt(256),
                        said);
        var patience = Duration.ofMillis(random.nextInt(300));
        try {
            if (guest.run(RunningExec.of(chosen.exec()), Deadline.in(patience))
                    instanceof ExecAttempt.Ended(var outcome)) {
                chosen.require(outcome);
            }
        } catch (Failure e) {
            // It was not waited for to its end: it goes on.
        }
        // A signal that changes nothing tells whether the guest has got it at all.
        if (guest.killExec(chosen.id(), SIGCONT, Deadline.in(PATIENCE))) {
            left.add(chosen);
        }
    }
}
