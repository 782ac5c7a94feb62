package coppice.guest;

import coppice.base.Deadline;
import java.util.List;
import java.util.Optional;

/// The files of a guest, done there as `user` or else as root, so that its kernel decides what may be done.
///
/// Fails with BAD_REQUEST (no such path or user can be, the wrong kind of file), FILE_NOT_FOUND, ACCESS_DENIED, DISK_FULL, RATE_LIMITED,
/// UNAVAILABLE (also when it was not done by the deadline), AGENT_UNSUPPORTED.
public final class GuestFiles {
    /// What the protocol allows a listing.
    private static final int MAX_LISTING = 16 << 20;

    private final Agent agent;

    GuestFiles(Agent agent) {
        this.agent = agent;
    }

    /// With `follow`, of what a link points to.
    public FileDescription stat(
            String path, Optional<String> user, boolean follow, Deadline deadline) {
        var request = new FileRequest(agent, "file.stat", path, user);
        var result = call(request, following(request, follow), deadline);
        return agent.reading(() -> FileDescription.of(result));
    }

    /// Begins to read a regular file; returns when its description is here. Links are followed.
    public FileReading read(
            String path, Optional<String> user, FileRange range, Deadline deadline) {
        return FileReading.begin(new FileRequest(agent, "file.read", path, user), range, deadline);
    }

    /// Begins to replace a file, or to make it with the directories above it. Nothing is waited for and nothing changes before
    /// [FileWriting#commit].
    public FileWriting write(String path, Optional<String> user, NewFile file) {
        return FileWriting.begin(new FileRequest(agent, "file.write", path, user), file);
    }

    /// What is in a directory, in no order. With `follow`, kinds are those of what links point to. PAYLOAD_TOO_LARGE over 16 MiB.
    public List<DirectoryEntry> list(
            String path, Optional<String> user, boolean follow, Deadline deadline) {
        var request = new FileRequest(agent, "file.list", path, user);
        var entries =
                agent.gather(
                        request.operation(),
                        following(request, follow),
                        MAX_LISTING,
                        request::refused,
                        deadline);
        return agent.reading(() -> DirectoryEntry.parse(entries));
    }

    /// Makes a directory and those above it; one that is there is fine. CONFLICT if a file is in the way.
    public void mkdir(String path, Optional<String> user, Deadline deadline) {
        var request = new FileRequest(agent, "file.mkdir", path, user);
        call(request, request.fields(), deadline);
    }

    /// Removes a file, a link, or a directory with all that is in it.
    public void remove(String path, Optional<String> user, Deadline deadline) {
        var request = new FileRequest(agent, "file.remove", path, user);
        call(request, request.fields(), deadline);
    }

    /// Watches the tree under a path; returns when all that happens from now on will be told.
    public FileWatch watch(String path, Optional<String> user, Deadline deadline) {
        return FileWatch.begin(new FileRequest(agent, "file.watch", path, user), deadline);
    }

    private Fields call(FileRequest request, FieldsWriter fields, Deadline deadline) {
        return agent.call(request.operation(), fields, request::refused, deadline);
    }

    private static FieldsWriter following(FileRequest request, boolean follow) {
        return follow ? request.fields().number(Tag.FOLLOW, 1) : request.fields();
    }
}
