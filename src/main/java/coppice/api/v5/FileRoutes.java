package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;
import static coppice.api.Method.PUT;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Call;
import coppice.api.Handler;
import coppice.api.Input;
import coppice.api.Method;
import coppice.api.Output;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.guest.DirectoryEntry;
import coppice.guest.FileKind;
import coppice.http.BodySink;
import coppice.http.BodyWriter;
import coppice.http.ResponseBody;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.FileContent;
import coppice.vm.FileDownload;
import coppice.vm.FilePart;
import coppice.vm.GuestFileAccess;
import coppice.vm.GuestPath;
import coppice.vm.Vms;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/// The operations on the files of a VM, done there as root.
public final class FileRoutes {
    private static final String FILES = "/vms/{vm}/fs/";
    private static final Size MAX_BODY = new Size(256 << 20);
    private static final int MAX_MODE = 07777;
    private static final Pattern SHA256 = Pattern.compile("[0-9a-fA-F]{64}");
    private static final DateTimeFormatter HTTP_TIME =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private final GuestFileAccess files;
    private final RootActing root;

    public FileRoutes(Vms vms, GuestFileAccess files, VmRights rights) {
        this.files = files;
        this.root = new RootActing(vms, rights);
    }

    public List<Route> routes() {
        return List.of(
                route(GET, "read", "readFile", "Read a file of a VM, or a part of it", this::read)
                        .query("path", Schema.string(), "The file; links are followed.")
                        .returns(new Output.Ranges())
                        .fails(Code.RANGE_NOT_SATISFIABLE, "the file has no such part"),
                route(PUT, "write", "writeFile", "Write a file in a VM in one step", this::write)
                        .query("path", Schema.string(), "The file, or a link to it.")
                        .query(
                                "mode",
                                Schema.integer(),
                                "Permission bits in decimal, 0 to 4095; default: as before, or 384.")
                        .query("sha256", Schema.string(), "What the body must have, in hex.")
                        .takes(new Input.Bytes())
                        .fails(Code.CHECKSUM_MISMATCH, "the body has another sha256")
                        .fails(Code.PAYLOAD_TOO_LARGE, "the body is over 256 MiB")
                        .fails(Code.DISK_FULL, "the disk of the VM is full"),
                route(GET, "dir", "listDirectory", "List a directory of a VM", this::list)
                        .query("path", Schema.string(), "The directory.")
                        .returns(FileSchemas.DIRECTORY)
                        .fails(Code.PAYLOAD_TOO_LARGE, "more entries than can be told at once"),
                route(POST, "mkdir", "makeDirectory", "Make a directory in a VM", this::mkdir)
                        .takes(FileSchemas.PATH)
                        .fails(Code.DISK_FULL, "the disk of the VM is full"),
                route(DELETE, "remove", "removeFile", "Remove a file or a tree", this::remove)
                        .query("path", Schema.string(), "The file, link or directory."),
                route(GET, "exists", "fileExists", "Tell whether a file exists", this::exists)
                        .query("path", Schema.string(), "The path; links are followed.")
                        .returns(FileSchemas.EXISTS),
                route(GET, "stat", "statFile", "Describe a file of a VM", this::stat)
                        .query(
                                "path",
                                Schema.string(),
                                "The path; a link at its end is not followed.")
                        .returns(FileSchemas.STAT));
    }

    private static Route route(
            Method method, String name, String id, String summary, Handler handler) {
        return Route.v5(method, FILES + name, id, handler)
                .about("Files", summary + "; wakes the VM")
                .forIdentities()
                .fails(Code.FORBIDDEN, "the identity may not act as root")
                .fails(Code.BAD_REQUEST, "the path is none, or of the wrong kind")
                .fails(Code.ACCESS_DENIED, "not even root may do this there")
                .fails(Code.FILE_NOT_FOUND, "there is nothing at the path")
                .fails(Code.CONFLICT, "the VM cannot be woken, or a file is in the way")
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.RATE_LIMITED, "too many files of the VM are worked on")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time");
    }

    private Reply read(Call call) {
        var who = root.of(call);
        var part = RangeHeader.part(call.headers());
        var download = files.read(who, path(call), part);
        var body =
                new ResponseBody.Stream(OptionalLong.of(download.length()), new Sending(download));
        var reply =
                switch (part) {
                    case FilePart.Whole _ -> Reply.stream(body);
                    case FilePart.Between _, FilePart.Last _ ->
                            Reply.part(body).with("Content-Range", contentRange(download));
                };
        return reply.with("Accept-Ranges", "bytes")
                .with("Last-Modified", httpTime(download.modified()));
    }

    private static String contentRange(FileDownload download) {
        return "bytes %d-%d/%d"
                .formatted(
                        download.first(),
                        download.first() + download.length() - 1,
                        download.size());
    }

    static String httpTime(Instant moment) {
        return HTTP_TIME.format(moment);
    }

    private record Sending(FileDownload download) implements BodyWriter {
        @Override
        public void write(BodySink sink) {
            download.writeTo(sink::write);
        }

        @Override
        public void close() {
            download.close();
        }
    }

    private Reply write(Call call) {
        var who = root.of(call);
        var path = path(call);
        var mode =
                mode(call.query().integer("mode")).map(OptionalInt::of).orElse(OptionalInt.empty());
        var sha256 = call.query().text("sha256").map(FileRoutes::sha256);
        var body = call.bytes().stream(MAX_BODY);
        long size =
                call.bytes()
                        .length()
                        .orElseThrow(
                                () ->
                                        new Failure(
                                                Code.BAD_REQUEST,
                                                "the length of the body is unknown; send Content-Length, or open an upload"));
        files.write(
                who, path, new FileContent(size, mode, sha256, OptionalLong.empty(), body::read));
        return Reply.noContent();
    }

    static Optional<Integer> mode(Optional<Long> mode) {
        mode.filter(bits -> bits < 0 || bits > MAX_MODE)
                .ifPresent(
                        _ -> {
                            throw new Failure(
                                    Code.BAD_REQUEST,
                                    "mode must be permission bits in decimal, 0 to %d"
                                            .formatted(MAX_MODE));
                        });
        return mode.map(Long::intValue);
    }

    static String sha256(String text) {
        if (!SHA256.matcher(text).matches()) {
            throw new Failure(Code.BAD_REQUEST, "sha256 must be 64 hexadecimal digits");
        }
        return text.toLowerCase(Locale.ROOT);
    }

    private Reply list(Call call) {
        var entries =
                files.list(root.of(call), path(call), false).stream()
                        .filter(entry -> entry.kind() != FileKind.OTHER)
                        .sorted(
                                Comparator.comparing(
                                        entry -> entry.name().getBytes(UTF_8),
                                        Arrays::compareUnsigned))
                        .map(FileRoutes::write)
                        .toList();
        return Reply.ok(new JsonWriter().put("entries", entries));
    }

    private static JsonWriter write(DirectoryEntry entry) {
        var kind =
                switch (entry.kind()) {
                    case FILE, OTHER -> "file";
                    case DIRECTORY -> "directory";
                    case SYMBOLIC_LINK -> "symlink";
                };
        return new JsonWriter().put("name", entry.name()).put("kind", kind);
    }

    private Reply mkdir(Call call) {
        files.mkdir(root.of(call), new GuestPath(call.body().requiredString("path")));
        return Reply.noContent();
    }

    private Reply remove(Call call) {
        files.remove(root.of(call), path(call));
        return Reply.noContent();
    }

    private Reply exists(Call call) {
        return Reply.ok(new JsonWriter().put("exists", files.exists(root.of(call), path(call))));
    }

    private Reply stat(Call call) {
        var file = files.stat(root.of(call), path(call), false);
        return Reply.ok(
                new JsonWriter()
                        .put("size", file.size())
                        .put("isFile", file.kind() == FileKind.FILE)
                        .put("isDirectory", file.kind() == FileKind.DIRECTORY)
                        .put("isSymlink", file.kind() == FileKind.SYMBOLIC_LINK)
                        .put("permissions", "%04o".formatted(file.mode()))
                        .put("owner", file.owner())
                        .put("group", file.group())
                        .put("modified", file.modified()));
    }

    private static GuestPath path(Call call) {
        return call.query()
                .text("path")
                .map(GuestPath::new)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.BAD_REQUEST,
                                        "query parameter path is missing; name a file of the VM"));
    }
}
