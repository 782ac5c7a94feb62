package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.disk.Published;
import coppice.fabric.Lone;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What image builds have on this machine while they capture: a directory on the data volume, and control groups under a name of their
/// own, so that a server which is running takes nothing of them for its own. The name tells the process that builds.
final class Builds {
    private static final String PREFIX = "build-";

    private Builds() {}

    /// The name of this process's build.
    static String name() {
        return PREFIX + ProcessHandle.current().pid();
    }

    /// Ends and removes what builds have left that were killed.
    static void sweepDead(Path volume) {
        for (var instance : ControlGroup.instances()) {
            if (isDead(instance)) {
                ControlGroup.names(instance)
                        .forEach(group -> ControlGroup.of(instance, group).delete());
                ControlGroup.forget(instance);
            }
        }
        Lone.names().stream().filter(Builds::isDead).forEach(Lone::remove);
        try (var entries = Files.newDirectoryStream(volume, PREFIX + "*")) {
            for (var entry : entries) {
                if (isDead(entry.getFileName().toString())) {
                    Published.delete(entry);
                }
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s cannot be read".formatted(volume), e);
        }
    }

    private static boolean isDead(String name) {
        return name.matches(PREFIX + "\\d+")
                && ProcessHandle.of(Long.parseLong(name.substring(PREFIX.length()))).isEmpty();
    }
}
