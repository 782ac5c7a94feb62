package coppice.api;

import coppice.background.Resumption;
import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.RequestBody;
import coppice.json.JsonObject;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// One call of an operation: admitted, and its body read and checked for types.
public final class Call {
    private final Optional<Caller> caller;
    private final BooleanSupplier stillAdmitted;
    private final Family family;
    private final Arguments arguments;
    private final boolean isDeferred;
    private final Consumer<Resumption> resumable;
    private final Consumer<Actor> actor;
    private final HttpRequest request;

    record Arguments(Map<String, String> path, Query query, JsonObject body) {}

    /// @param stillAdmitted whether the caller would be admitted again
    Call(
            Optional<Caller> caller,
            BooleanSupplier stillAdmitted,
            Family family,
            Arguments arguments,
            boolean isDeferred,
            Consumer<Resumption> resumable,
            Consumer<Actor> actor,
            HttpRequest request) {
        this.caller = caller;
        this.stillAdmitted = stillAdmitted;
        this.family = family;
        this.arguments = arguments;
        this.isDeferred = isDeferred;
        this.resumable = resumable;
        this.actor = actor;
        this.request = request;
    }

    /// Always there, except on routes that need no credential.
    public Caller caller() {
        return caller.orElseThrow(() -> new IllegalStateException("nobody calls an open route"));
    }

    /// Tells whether the credential of the call is still good, for what goes on after the answer. May be asked at any time, and keeps
    /// nothing of the call but its headers.
    public BooleanSupplier stillAdmitted() {
        return stillAdmitted;
    }

    public Family family() {
        return family;
    }

    /// The decoded value of a parameter in the path; never empty. May hold slashes and anything else but NUL.
    public String path(String parameter) {
        var value = arguments.path.get(parameter);
        if (value == null) {
            throw new IllegalArgumentException("the path has no " + parameter);
        }
        return value;
    }

    public Query query() {
        return arguments.query;
    }

    /// Of a route that was declared `paged`.
    public Page page() {
        return Page.of(arguments.query);
    }

    /// The JSON body; empty when nothing was sent or the route takes none.
    public JsonObject body() {
        return arguments.body;
    }

    /// The unread body of a route that takes bytes.
    public RequestBody bytes() {
        return request.body();
    }

    public Headers headers() {
        return request.headers();
    }

    /// What is sent as `Authorization: Bearer`.
    public Optional<String> bearer() {
        return BrandedHeader.single(request.headers(), List.of("Authorization"))
                .flatMap(Gate::bearer);
    }

    /// The other end of the connection, which may be a proxy.
    public Optional<InetAddress> peer() {
        return request.peer();
    }

    /// To be told by a route that finds out by itself who is calling, as soon as it knows: for the record.
    public void madeBy(Actor who) {
        actor.accept(who);
    }

    /// Whether the call may go on after its caller was told to poll.
    public boolean isDeferred() {
        return isDeferred;
    }

    /// To be told by an operation that is declared [Route#resumable], once it is decided what is done and before that begins.
    public void resumable(Resumption how) {
        resumable.accept(how);
    }
}
