package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.guest.DirectoryEntry;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.FileDescription;
import coppice.vm.FileActor;
import coppice.vm.FileContent;
import coppice.vm.FileSource;
import coppice.vm.GuestFileAccess;
import coppice.vm.GuestPath;
import coppice.vm.TreeNews;
import coppice.vm.Vms;
import coppice.vm.WatchedTree;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;

/// The files of one VM, as one of its users has them; links are followed. Every call wakes the VM. Fails as [GuestFileAccess] does.
interface GuestTree {
    FileDescription stat(GuestPath path);

    /// A whole file; `PAYLOAD_TOO_LARGE` if it has more bytes.
    byte[] read(GuestPath path, Size most);

    List<DirectoryEntry> list(GuestPath path);

    /// Replaces a file, or makes it with the directories above it, in one step.
    ///
    /// @param mode absent: as before
    void write(GuestPath path, OptionalInt mode, byte[] content);

    /// The home of the VM's default user, whoever this is for.
    GuestPath home();

    Watch watch(GuestPath path);

    /// See [WatchedTree].
    interface Watch extends AutoCloseable {
        TreeNews next(Duration wait);

        @Override
        void close();
    }

    static GuestTree of(Vms vms, GuestFileAccess files, FileActor who) {
        return new OfVm(vms, files, who);
    }

    /// That of a real VM.
    record OfVm(Vms vms, GuestFileAccess files, FileActor who) implements GuestTree {
        private static final Duration PATIENCE = Duration.ofSeconds(30);
        private static final int MAX_PATH = 8192;

        @Override
        public FileDescription stat(GuestPath path) {
            return files.stat(who, path, true);
        }

        @Override
        public byte[] read(GuestPath path, Size most) {
            return files.bytes(who, path, most);
        }

        @Override
        public List<DirectoryEntry> list(GuestPath path) {
            return files.list(who, path, true);
        }

        @Override
        public void write(GuestPath path, OptionalInt mode, byte[] content) {
            files.write(
                    who,
                    path,
                    new FileContent(
                            content.length,
                            mode,
                            Optional.empty(),
                            OptionalLong.empty(),
                            source(content)));
        }

        private static FileSource source(byte[] content) {
            var in = new ByteArrayInputStream(content);
            return (into, at, length, _) -> in.readNBytes(into, at, length);
        }

        /// Where the default user's commands run.
        @Override
        public GuestPath home() {
            var exec =
                    new Exec(
                            new ExecId(UUID.randomUUID()),
                            "pwd",
                            Optional.empty(),
                            Map.of(),
                            new byte[0],
                            PATIENCE,
                            MAX_PATH,
                            Optional.empty());
            var outcome = vms.exec(who.account(), who.vm(), exec);
            if (!outcome.shellStatus().equals(Optional.of(0))) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "%s does not tell the home of its default user; give the VM a workdir"
                                .formatted(who.vm()));
            }
            return new GuestPath(
                    new String(outcome.output().stdout(), StandardCharsets.UTF_8).stripTrailing());
        }

        @Override
        public Watch watch(GuestPath path) {
            return new OfTree(files.watch(who, path));
        }
    }

    record OfTree(WatchedTree tree) implements Watch {
        @Override
        public TreeNews next(Duration wait) {
            return tree.next(wait);
        }

        @Override
        public void close() {
            tree.close();
        }
    }
}
