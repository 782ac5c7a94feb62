package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;
import static coppice.api.Method.PUT;

import coppice.api.Call;
import coppice.api.Handler;
import coppice.api.Input;
import coppice.api.Method;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.GuestPath;
import coppice.vm.Upload;
import coppice.vm.Uploads;
import coppice.vm.Vms;
import java.util.List;
import java.util.OptionalInt;

/// The operations on uploads.
public final class UploadRoutes {
    private static final String UPLOADS = "/vms/{vm}/fs/uploads";
    private static final String UPLOAD = UPLOADS + "/{uploadId}";

    private final Uploads uploads;
    private final RootActing root;

    public UploadRoutes(Vms vms, Uploads uploads, VmRights rights) {
        this.uploads = uploads;
        this.root = new RootActing(vms, rights);
    }

    public List<Route> routes() {
        return List.of(
                route(POST, UPLOADS, "openUpload", "Begin to upload a file", this::open)
                        .creates()
                        .takes(FileSchemas.NEW_UPLOAD, Examples.OPEN_UPLOAD)
                        .returns(FileSchemas.UPLOAD)
                        .fails(Code.PAYLOAD_TOO_LARGE, "the size is over 16 GiB")
                        .fails(Code.RATE_LIMITED, "the VM has 16 open uploads"),
                route(GET, UPLOAD, "getUpload", "Tell how far an upload is", this::state)
                        .returns(FileSchemas.UPLOAD),
                route(PUT, UPLOAD, "uploadChunk", "Add a chunk to an upload", this::append)
                        .query("offset", Schema.integer(), "Where it begins: receivedBytes.")
                        .takes(new Input.Bytes())
                        .returns(FileSchemas.UPLOAD)
                        .fails(Code.BAD_REQUEST, "the chunk is empty, cut off or past the size")
                        .fails(Code.CONFLICT, "the upload goes on elsewhere, or has a chunk coming")
                        .fails(Code.PAYLOAD_TOO_LARGE, "the chunk is over 256 MiB"),
                route(
                                POST,
                                UPLOAD + "/commit",
                                "commitUpload",
                                "Have an uploaded file appear in its VM; wakes the VM",
                                this::commit)
                        .fails(Code.CHECKSUM_MISMATCH, "another sha256; the upload is dropped")
                        .fails(Code.ACCESS_DENIED, "not even root may write there")
                        .fails(Code.FILE_NOT_FOUND, "the directory is absent")
                        .fails(Code.CONFLICT, "bytes are missing, or the VM cannot be woken")
                        .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                        .fails(Code.DISK_FULL, "the disk of the VM is full")
                        .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                        .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time"),
                route(DELETE, UPLOAD, "abortUpload", "Drop an upload", this::abort));
    }

    private static Route route(
            Method method, String path, String id, String summary, Handler handler) {
        return Route.v5(method, path, id, handler)
                .about("Files", summary)
                .forIdentities()
                .fails(Code.FORBIDDEN, "the identity may not act as root")
                .fails(Code.NOT_FOUND, "the VM or the upload is absent");
    }

    private Reply open(Call call) {
        var who = root.of(call);
        var body = call.body();
        var path = new GuestPath(body.requiredString("path"));
        long size = body.requiredInteger("size");
        if (size < 0) {
            throw body.fault("size", "must be 0 or more bytes");
        }
        var mode =
                FileRoutes.mode(body.integer("mode"))
                        .map(OptionalInt::of)
                        .orElse(OptionalInt.empty());
        var wanted =
                new Upload.Wanted(path, size, body.string("sha256").map(FileRoutes::sha256), mode);
        return Reply.ok(write(uploads.open(who.account(), who.vm(), wanted)));
    }

    private Reply state(Call call) {
        var who = root.of(call);
        return Reply.ok(write(uploads.state(who.account(), who.vm(), call.path("uploadId"))));
    }

    private Reply append(Call call) {
        var who = root.of(call);
        long offset =
                call.query()
                        .integer("offset")
                        .orElseThrow(
                                () ->
                                        new Failure(
                                                Code.BAD_REQUEST,
                                                "query parameter offset is missing; send receivedBytes"));
        var chunk = call.bytes().stream(Uploads.MAX_CHUNK);
        return Reply.ok(
                write(
                        uploads.append(
                                who.account(),
                                who.vm(),
                                call.path("uploadId"),
                                offset,
                                call.bytes().length(),
                                chunk::read)));
    }

    private Reply commit(Call call) {
        var who = root.of(call);
        uploads.commit(who.account(), who.vm(), call.path("uploadId"));
        return Reply.noContent();
    }

    private Reply abort(Call call) {
        var who = root.of(call);
        uploads.abort(who.account(), who.vm(), call.path("uploadId"));
        return Reply.noContent();
    }

    private static JsonWriter write(Upload upload) {
        return new JsonWriter()
                .put("uploadId", upload.id())
                .put("path", upload.wanted().path().text())
                .put("size", upload.wanted().size())
                .put("receivedBytes", upload.received());
    }
}
