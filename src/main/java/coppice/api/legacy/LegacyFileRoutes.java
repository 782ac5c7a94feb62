package coppice.api.legacy;

import static coppice.api.Method.GET;
import static coppice.api.Method.POST;
import static coppice.api.Method.PUT;
import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Call;
import coppice.api.Method;
import coppice.api.Output;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Undo;
import coppice.guest.DirectoryEntry;
import coppice.guest.FileKind;
import coppice.identity.LinuxUsers;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.FileActor;
import coppice.vm.GuestFileAccess;
import coppice.vm.GuestPath;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/// The legacy operations on the files of a VM, done there as the user that a header names, or as root.
public final class LegacyFileRoutes {
    private static final String VM = "/v1/vms/{vm_id}";
    private static final String FILE = VM + "/files/{filepath}";
    private static final Size MAX_FILE = Size.ofMib(10);
    private static final Size MAX_AT_ONCE = Size.ofMib(64);
    private static final int NEW_MODE = 0644;

    /// How often a caller who watches is sent something.
    private static final Duration BEAT = Duration.ofSeconds(30);

    private static final Schema FOUND =
            Schema.anyOf(
                    Schema.object("LegacyFile")
                            .field("content", Schema.string(), ALWAYS, "")
                            .field(
                                    "encoding",
                                    Schema.word("utf8", "base64"),
                                    ALWAYS,
                                    "Base64 of what is no UTF-8."),
                    Schema.object("LegacyDirectory")
                            .field(
                                    "files",
                                    Schema.list(
                                            Schema.object()
                                                    .field("name", Schema.string(), ALWAYS, "")
                                                    .field(
                                                            "kind",
                                                            Schema.word("file", "directory"),
                                                            ALWAYS,
                                                            "Of links, what they point to.")),
                                    ALWAYS,
                                    "Sorted by the bytes of their names."));

    private static final Schema.ObjectOf CONTENT =
            Schema.object("LegacyFileContent")
                    .field("content", Schema.string(), ALWAYS, "At most 10 MiB.")
                    .field("encoding", Schema.word("utf8", "base64"), OPTIONAL, "Default utf8.");

    private final Vms vms;
    private final Function<FileActor, GuestTree> trees;
    private final LinuxUserHeader user;
    private final VmRights rights;
    private final Duration beat;
    private final FileRoom room = new FileRoom(MAX_AT_ONCE);

    /// @param brand the word inside header names
    public LegacyFileRoutes(Vms vms, GuestFileAccess files, String brand, VmRights rights) {
        this(vms, who -> GuestTree.of(vms, files, who), brand, rights, BEAT);
    }

    LegacyFileRoutes(
            Vms vms,
            Function<FileActor, GuestTree> trees,
            String brand,
            VmRights rights,
            Duration beat) {
        this.rights = rights;
        this.vms = vms;
        this.trees = trees;
        this.user = new LinuxUserHeader(brand);
        this.beat = beat;
    }

    public List<Route> routes() {
        return List.of(
                route(GET, FILE, "legacyReadFile", this::read)
                        .orManySegments("filepath")
                        .about("Legacy", "Read a file of a VM, or list a directory; wakes the VM")
                        .returns(FOUND),
                route(PUT, FILE, "legacyWriteFile", this::write)
                        .orManySegments("filepath")
                        .about("Legacy", "Write a file in a VM in one step; wakes the VM")
                        .takes(CONTENT)
                        .returns(LegacyVmSchemas.NOTHING)
                        .fails(Code.DISK_FULL, "the disk of the VM is full"),
                route(POST, VM + "/watch-files", "legacyWatchFiles", this::watch)
                        .about("Legacy", "Be told what happens to the files of a VM; wakes the VM")
                        .returns(new Output.Lines()));
    }

    /// A call, and the VM that it names.
    private record Asked(Call call, Vm vm, LinuxUsers users, GuestTree tree) {
        /// The path that a file call names.
        String path() {
            var path = call.path("filepath");
            var workdir = vm.legacy().workdir().replaceAll("/+$", "");
            return path.startsWith("/") ? path : workdir + "/" + path;
        }
    }

    private interface Doing {
        Reply answer(Asked asked);
    }

    private Route route(Method method, String path, String id, Doing doing) {
        return Route.legacy(method, path, id, call -> answer(call, doing))
                .forIdentities()
                .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may not act as that user")
                .fails(
                        Code.FILES_BAD_REQUEST,
                        "the path, its kind, the size or the base64 is wrong")
                .fails(Code.ACCESS_DENIED, "the user may not do this")
                .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                .fails(Code.FILE_NOT_FOUND, "there is nothing at the path")
                .fails(Code.CONFLICT, "the VM cannot be woken")
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.RATE_LIMITED, "too many files of the VM are worked on")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time");
    }

    private Reply answer(Call call, Doing doing) {
        var name = call.path("vm_id");
        var vm = LegacyVms.named(vms, LegacyVmRoutes.account(call), name);
        var users = LegacyVms.users(rights, call, vm);
        try {
            var wanted = user.of(call);
            user.check(users, wanted.or(() -> Optional.of(LinuxUsers.ROOT)));
            var who = new FileActor(vm.account(), vm.id().text(), wanted);
            return doing.answer(new Asked(call, vm, users, trees.apply(who)));
        } catch (Failure e) {
            throw LegacyFailures.filing(e, name);
        }
    }

    /// Does something at a path, and names the path when there is nothing.
    private static Reply at(String path, Function<GuestPath, Reply> doing) {
        try {
            return doing.apply(new GuestPath(path));
        } catch (Failure e) {
            throw LegacyFailures.looking(e, path);
        }
    }

    private Reply read(Asked asked) {
        return at(
                asked.path(),
                path -> {
                    var found = asked.tree().stat(path);
                    return found.kind() == FileKind.DIRECTORY
                            ? list(asked.tree(), path)
                            : read(asked.tree(), path, found.size());
                });
    }

    private Reply read(GuestTree tree, GuestPath path, long size) {
        requireSize(size);
        try (var undo = new Undo()) {
            var taken = undo.add(room.take(size));
            var reply = FileJson.reply(tree.read(path, MAX_FILE), taken);
            undo.keep();
            return reply;
        }
    }

    private static void requireSize(long size) {
        if (size > MAX_FILE.bytes()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "a file of %d bytes is over the limit of %d; use the v5 calls for it"
                            .formatted(size, MAX_FILE.bytes()));
        }
    }

    private static Reply list(GuestTree tree, GuestPath path) {
        var files =
                tree.list(path).stream()
                        .filter(LegacyFileRoutes::isListed)
                        .sorted(
                                Comparator.comparing(
                                        entry -> entry.name().getBytes(UTF_8),
                                        Arrays::compareUnsigned))
                        .map(LegacyFileRoutes::write)
                        .toList();
        return Reply.ok(new JsonWriter().put("files", files));
    }

    /// Callers copy every entry that is no directory, so what cannot be read is left out: devices and the like, and links to nothing.
    private static boolean isListed(DirectoryEntry entry) {
        return entry.kind() == FileKind.FILE || entry.kind() == FileKind.DIRECTORY;
    }

    private static JsonWriter write(DirectoryEntry entry) {
        return new JsonWriter()
                .put("name", entry.name())
                .put("kind", entry.kind() == FileKind.DIRECTORY ? "directory" : "file");
    }

    private Reply write(Asked asked) {
        return at(
                asked.path(),
                path -> {
                    var body = asked.call().body();
                    var text = body.requiredString("content");
                    try (var _ = room.take(text.length())) {
                        var content = decode(body, text);
                        asked.tree().write(path, mode(asked.tree(), path), content);
                        return Reply.ok(new JsonWriter());
                    }
                });
    }

    private static byte[] decode(JsonObject body, String text) {
        var content =
                switch (body.string("encoding").orElse("utf8")) {
                    case "utf8" -> text.getBytes(UTF_8);
                    case "base64" -> decodeBase64(body, text);
                    default -> throw body.fault("encoding", "must be utf8 or base64");
                };
        requireSize(content.length);
        return content;
    }

    /// Only what an encoder makes: with its padding, and without bits that count for nothing.
    private static byte[] decodeBase64(JsonObject body, String text) {
        try {
            var content = Base64.getDecoder().decode(text);
            if (Base64.getEncoder().encodeToString(content).equals(text)) {
                return content;
            }
        } catch (IllegalArgumentException _) {
            // Told below, with the other reason.
        }
        throw body.fault("content", "must be base64 (RFC 4648 section 4), with its padding");
    }

    /// What is there keeps its mode.
    private static OptionalInt mode(GuestTree tree, GuestPath path) {
        try {
            var _ = tree.stat(path);
            return OptionalInt.empty();
        } catch (Failure e) {
            if (e.code() != Code.FILE_NOT_FOUND) {
                throw e;
            }
            return OptionalInt.of(NEW_MODE);
        }
    }

    private Reply watch(Asked asked) {
        asked.users().checkRoot();
        var workdir = asked.vm().legacy().workdir();
        var root = new GuestPath(workdir).isRoot() ? asked.tree().home().text() : workdir;
        return at(root, path -> Reply.lines(new EventLines(asked.tree().watch(path), beat)));
    }
}
