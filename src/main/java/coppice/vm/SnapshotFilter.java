package coppice.vm;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// Which of an account's snapshots to list. What is absent does not narrow.
///
/// @param sourceVm the VM they were taken of
/// @param search a part of the id, slug or display name, in upper or lower case
/// @param deleted whether those that were deleted within a day are listed too
/// @param failed whether those that failed within a day are listed too
public record SnapshotFilter(
        Optional<VmId> sourceVm, Optional<String> search, boolean deleted, boolean failed) {

    boolean matches(Snapshot snapshot) {
        return sourceVm.map(vm -> snapshot.sourceVm().equals(Optional.of(vm))).orElse(true)
                && search.map(part -> isFound(folded(part), snapshot)).orElse(true)
                && switch (snapshot.standing()) {
                    case Snapshot.Usable _ -> true;
                    case Snapshot.Deleted _ -> deleted;
                    case Snapshot.Failed _ -> failed;
                };
    }

    private static boolean isFound(String part, Snapshot snapshot) {
        return Stream.of(
                        Optional.of(snapshot.id().text()),
                        snapshot.settings().slug().map(Object::toString),
                        snapshot.settings().displayName())
                .flatMap(Optional::stream)
                .anyMatch(text -> folded(text).contains(part));
    }

    private static String folded(String text) {
        return text.toLowerCase(Locale.ROOT);
    }
}
