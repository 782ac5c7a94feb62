package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import coppice.process.Command;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A QEMU that its guest has taken over must find itself alone: another user than any other, nothing to start, nothing of others to read.
class ConfinementIT {

    @Test
    void aVmsProcessIsUnprivilegedSandboxedAndAlone() throws IOException {
        try (var installation = Installation.start()) {
            var client = installation.client("main");
            var one = process(installation, client.createVm());
            var other = process(installation, client.createVm());

            for (var process : List.of(one, other)) {
                assertTrue(
                        field(process, "Uid").matches("(7\\d{5})\t\\1\t\\1\t\\1"),
                        field(process, "Uid"));
                assertEquals(field(process, "Uid"), field(process, "Gid"));
                assertEquals("", field(process, "Groups").strip());
                assertEquals("2", field(process, "Seccomp"), "QEMU's sandbox filters system calls");
                assertEquals("1", field(process, "NoNewPrivs"));
                assertEquals("0000000000000000", field(process, "CapEff"));
                assertEquals(
                        Long.toString(process),
                        stat(process).get(3),
                        "it leads a session of its own");
            }
            assertNotEquals(field(one, "Uid"), field(other, "Uid"));
        }
    }

    @Test
    void aVmsUserReachesItsOwnDiskAndNothingElse() throws IOException {
        try (var installation = Installation.start()) {
            var client = installation.client("main");
            var mine = client.createVm();
            var other = client.createVm();
            var user = field(process(installation, mine), "Uid").split("\t")[0];
            var own = installation.data().resolve("volume/vms").resolve(mine);
            var others = installation.data().resolve("volume/vms").resolve(other);

            assertEquals(0, as(user, "head", "-c", "1", own.resolve("disk.raw").toString()));
            for (var secret :
                    List.of(
                            others.resolve("disk.raw"),
                            others.resolve("ram"),
                            others.resolve("run/agent"),
                            installation.data().resolve("coppice.db"),
                            installation.data().resolve("volume.xfs"))) {
                assertTrue(Files.exists(secret), secret.toString());
                assertNotEquals(
                        0, as(user, "head", "-c", "1", secret.toString()), "readable: " + secret);
            }
            assertWritesNothing(user, own);
        }
    }

    private static void assertWritesNothing(String user, Path directory) {
        for (var place : List.of(directory, directory.resolve("run"), directory.getParent())) {
            assertNotEquals(
                    0,
                    as(user, "touch", place.resolve("planted").toString()),
                    "writable: " + place);
        }
        assertNotEquals(
                0,
                as(user, "rm", directory.resolve("run/qmp").toString()),
                "its socket can be replaced");
        assertNotEquals(
                0,
                as(user, "sh", "-c", "echo x > " + directory.resolve("ram")),
                "an image is writable");
    }

    private static int as(String user, String... line) {
        var whole =
                new java.util.ArrayList<>(
                        List.of(
                                "setpriv",
                                "--reuid",
                                user,
                                "--regid",
                                user,
                                "--clear-groups",
                                "--"));
        whole.addAll(List.of(line));
        return new Command(whole).run(Deadline.in(Duration.ofSeconds(10))).status();
    }

    private static long process(Installation installation, String vm) {
        var processes = ControlGroup.of(DataLock.instance(installation.data()), vm).processes();
        assertEquals(1, processes.size());
        return processes.getFirst().pid();
    }

    private static String field(long pid, String name) throws IOException {
        try (var lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
            return lines.filter(line -> line.startsWith(name + ":"))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .findFirst()
                    .orElseThrow();
        }
    }

    /// The fields of /proc/PID/stat after the command: state, parent, group, session.
    private static List<String> stat(long pid) throws IOException {
        var text = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        return List.of(text.substring(text.lastIndexOf(')') + 2).split(" "));
    }
}
