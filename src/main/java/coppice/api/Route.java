package coppice.api;

import coppice.base.Code;
import coppice.json.JsonObject;
import coppice.json.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/// One operation: where it is served, what does it, and how it is documented. Immutable; each method gives a changed copy.
///
/// ```java
/// Route.v5(POST, "/vms/{vm}/start", "startVm", this::start)
///         .about("VMs", "Start a VM, or wake it")
///         .returns(VM)
///         .fails(Code.CONFLICT, "its run budget is spent, or there is no capacity");
/// ```
///
/// Left unsaid: POST, PUT and PATCH take a JSON object without known fields, other methods take no body; the answer is 204. The
/// failures that any operation may have need not be named.
public record Route(
        Method method,
        PathTemplate path,
        List<Family> families,
        Handler handler,
        List<QueryParameter> query,
        Description description,
        Admission admission,
        Optional<Resuming> resuming) {

    /// Goes on with a call of an earlier server, from what that told by [Call#resumable].
    @FunctionalInterface
    public interface Resuming {
        Reply resume(UUID account, JsonObject detail);
    }

    /// What the OpenAPI document says, and what is done around the handler.
    ///
    /// @param isCreate whether it makes something, which is made once for each `Idempotency-Key`
    public record Description(
            String id,
            String tag,
            String summary,
            Input input,
            Output output,
            boolean isCreate,
            List<Outcome> failures) {
        public Description {
            failures = List.copyOf(failures);
        }
    }

    /// Who may call.
    ///
    /// @param isForIdentities whether an identity's access token may call it: the handler looks at its grants
    /// @param stranger what all failures to tell who calls are called here, where not by their own names
    /// @param secret the header by which the handler of an open route finds out who calls, where it does
    record Admission(boolean isForIdentities, Optional<Code> stranger, Optional<String> secret) {}

    public Route {
        families = List.copyOf(families);
        query = List.copyOf(query);
    }

    /// Served as `/v5` + `path` and, deprecated, as `path`. `id` is the operation's name in the document.
    public static Route v5(Method method, String path, String id, Handler handler) {
        return route(method, path, id, handler, List.of(Family.V5, Family.UNVERSIONED));
    }

    public static Route legacy(Method method, String path, String id, Handler handler) {
        return route(method, path, id, handler, List.of(Family.LEGACY));
    }

    static Route open(String path, String id, Handler handler) {
        return open(Method.GET, path, id, handler);
    }

    /// Everybody may call, with bodies of up to 64 KiB; the handler itself finds out who does, where that matters.
    public static Route open(Method method, String path, String id, Handler handler) {
        return route(method, path, id, handler, List.of(Family.OPEN));
    }

    /// `handler` itself decides who may call, and nobody is told of it in the document.
    public static Route operator(String path, String id, Handler handler) {
        return route(Method.GET, path, id, handler, List.of(Family.OPERATOR));
    }

    private static Route route(
            Method method, String path, String id, Handler handler, List<Family> families) {
        var input =
                switch (method) {
                    case POST, PUT, PATCH -> new Input.Json(Schema.object());
                    case GET, DELETE -> new Input.None();
                };
        var description =
                new Description(id, "Other", id, input, new Output.NoContent(), false, List.of());
        return new Route(
                method,
                PathTemplate.parse(path),
                families,
                handler,
                List.of(),
                description,
                new Admission(false, Optional.empty(), Optional.empty()),
                Optional.empty());
    }

    /// What it does goes on by itself, and a later server can wait for its end. Identities may have it go on in the background, too.
    public Route resumable(Resuming how) {
        return new Route(
                method, path, families, handler, query, description, admission, Optional.of(how));
    }

    /// Whether a call may go on after its caller was told to poll.
    boolean isDeferrable(boolean isByIdentity) {
        return description.output.isDeferrable() && (!isByIdentity || resuming.isPresent());
    }

    /// An identity's access token may call it, too. The handler is to look at what is granted.
    public Route forIdentities() {
        return with(new Admission(true, admission.stranger, admission.secret));
    }

    /// Whoever has no usable credential is told this code, whatever is wrong with it. Legacy routes have their own.
    public Route strangers(Code code) {
        return with(new Admission(admission.isForIdentities, Optional.of(code), admission.secret));
    }

    /// Of an open route: its handler finds out who calls by this header.
    public Route admitsBy(String header) {
        return with(
                new Admission(admission.isForIdentities, admission.stranger, Optional.of(header)));
    }

    public Route about(String tag, String summary) {
        var d = description;
        return with(new Description(d.id, tag, summary, d.input, d.output, d.isCreate, d.failures));
    }

    /// Takes a JSON object, whose field types are checked before the handler is called.
    public Route takes(Schema.ObjectOf body) {
        return takes(new Input.Json(body));
    }

    /// As [#takes], with an example for the document.
    ///
    /// @param example JSON that fits
    public Route takes(Schema.ObjectOf body, String example) {
        return takes(new Input.Json(body, Optional.of(example)));
    }

    public Route takes(Input input) {
        var d = description;
        return with(
                new Description(d.id, d.tag, d.summary, input, d.output, d.isCreate, d.failures));
    }

    /// Answers 200 with this.
    public Route returns(Schema body) {
        return returns(new Output.Json(body));
    }

    public Route returns(Output output) {
        var d = description;
        return with(
                new Description(d.id, d.tag, d.summary, d.input, output, d.isCreate, d.failures));
    }

    /// Makes something: once for each `Idempotency-Key`.
    public Route creates() {
        var d = description;
        return with(new Description(d.id, d.tag, d.summary, d.input, d.output, true, d.failures));
    }

    public Route fails(Code code, String when) {
        var d = description;
        var failures = new ArrayList<>(d.failures);
        failures.add(new Outcome(code, when));
        return with(
                new Description(d.id, d.tag, d.summary, d.input, d.output, d.isCreate, failures));
    }

    public Route query(String name, Schema type, String text) {
        return query(List.of(new QueryParameter(name, type, text)));
    }

    /// Has the query parameters `limit` and `offset`, see [Call#page].
    public Route paged() {
        return query(Page.PARAMETERS);
    }

    /// The named path parameter may come as two raw segments: `svc/ubuntu` beside `svc%2Fubuntu`.
    public Route orTwoSegments(String parameter) {
        return with(parameter, PathTemplate.Width.ONE_OR_TWO);
    }

    /// The named path parameter, which is the last segment, may come as any number of raw segments: `etc/hosts` beside `etc%2Fhosts`.
    public Route orManySegments(String parameter) {
        return with(parameter, PathTemplate.Width.REST);
    }

    private Route with(String parameter, PathTemplate.Width width) {
        return new Route(
                method,
                path.with(parameter, width),
                families,
                handler,
                query,
                description,
                admission,
                resuming);
    }

    private Route query(List<QueryParameter> more) {
        var all = new ArrayList<>(query);
        all.addAll(more);
        return new Route(method, path, families, handler, all, description, admission, resuming);
    }

    private Route with(Description changed) {
        return new Route(method, path, families, handler, query, changed, admission, resuming);
    }

    private Route with(Admission changed) {
        return new Route(method, path, families, handler, query, description, changed, resuming);
    }
}
