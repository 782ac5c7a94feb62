package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;
import java.util.Optional;

/// One operation on one path, as one user of the guest, or as root. Refuses as BAD_REQUEST what no guest can be asked for.
record FileRequest(Agent agent, String operation, String path, Optional<String> user) {
    private static final int MAX_PATH = 4096;

    FileRequest {
        Exec.requireNoNul("the path", path);
        user.ifPresent(name -> Exec.requireNoNul("the user", name));
        if (!path.startsWith("/")
                || path.length() > MAX_PATH
                || List.of(path.split("/")).contains("..")) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "a path in a VM begins with /, has no .. in it and at most %d characters; give another than %s"
                            .formatted(MAX_PATH, GuestText.clean(path)));
        }
    }

    FieldsWriter fields() {
        var fields = Request.fields(operation).text(Tag.PATH, path);
        user.ifPresent(name -> fields.text(Tag.USER, name));
        return fields;
    }

    Flow flow(FieldsWriter fields, Optional<Outlet> body, List<Inlet> inlets) {
        return new Flow(
                agent, new Request(operation, fields.toBytes(), body, inlets), this::refused);
    }

    Failure refused(Answer.Refused refused) {
        var shown = "%s of %s".formatted(GuestText.clean(path), agent.name());
        var who = user.map(GuestText::clean).orElse("root");
        return switch (refused.code()) {
            case "FILE_NOT_FOUND" ->
                    new Failure(
                            Code.FILE_NOT_FOUND,
                            "there is no %s; see what its directory has".formatted(shown));
            case "ACCESS_DENIED" ->
                    new Failure(
                            Code.ACCESS_DENIED,
                            "user %s may not do this to %s; change its mode or owner, or act as another user"
                                    .formatted(who, shown));
            case "NO_SUCH_USER" ->
                    new Failure(
                            Code.BAD_REQUEST,
                            "%s has no user %s; create it there first"
                                    .formatted(agent.name(), who));
            case "NOT_A_FILE", "NOT_A_DIRECTORY" -> otherKind(refused.code(), shown);
            case "SHRUNK" ->
                    new Failure(
                            Code.CONFLICT,
                            "%s became shorter while it was read; read it again".formatted(shown));
            default -> notDone(refused, shown);
        };
    }

    private Failure notDone(Answer.Refused refused, String shown) {
        return switch (refused.code()) {
            case "DISK_FULL" ->
                    new Failure(
                            Code.DISK_FULL,
                            "the disk of %s has no room for %s; remove files there or grow the disk"
                                    .formatted(agent.name(), GuestText.clean(path)));
            case "CHECKSUM_MISMATCH" ->
                    new Failure(
                            Code.CHECKSUM_MISMATCH,
                            "%s did not arrive as it was sent, and nothing was written; send it again"
                                    .formatted(shown));
            case "TOO_LARGE" ->
                    new Failure(
                            Code.PAYLOAD_TOO_LARGE,
                            "%s has more in it than can be told at once; name a smaller directory"
                                    .formatted(shown));
            case "TOO_MANY" ->
                    new Failure(
                            Code.RATE_LIMITED,
                            "too many files of %s are worked on at once; try again when some are done"
                                    .formatted(agent.name()));
            default -> refused.failure(agent.name(), operation);
        };
    }

    /// To make a directory where a file is meets the state of things; to want a file from a directory is a mistake.
    private Failure otherKind(String code, String shown) {
        if (operation.equals("file.mkdir")) {
            return new Failure(
                    Code.CONFLICT,
                    "a file is in the way of %s; remove it or name another path".formatted(shown));
        }
        return new Failure(
                Code.BAD_REQUEST,
                code.equals("NOT_A_FILE")
                        ? "%s is no regular file; name one".formatted(shown)
                        : "%s is no directory, or leads through a file; name one".formatted(shown));
    }
}
