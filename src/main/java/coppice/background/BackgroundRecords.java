package coppice.background;

import coppice.http.Headers;
import coppice.identity.AccountId;
import coppice.identity.Caller;
import coppice.identity.IdentityId;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.store.Store;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/// The rows of background requests.
final class BackgroundRecords {
    private static final String INSERT =
            """
            insert into background_requests
            (id, account_id, identity_id, operation, path, vm_id, linux_user, resumption)
            values (:id, :account, :identity, :operation, :path, :vm, :user, :resumption)
            """;

    private static final String FINISH =
            """
            update background_requests
            set finished_at = :now, status = :status, headers = :headers, body = :body, body_length = :length
            where id = :id
            """;

    private static final String SELECT =
            """
            select id, account_id, identity_id, operation, path, vm_id, linux_user, resumption,
                   finished_at, status, headers, body, body_length
            from background_requests where\s""";

    private static final String OVER =
            """
            select id, account_id, body_length from background_requests
            where finished_at <= :before limit 1000
            """;

    private final Store store;

    /// @param finishedAt absent while it runs
    /// @param result absent if it runs, and if it was too large to keep
    /// @param body absent if it is in a file
    record Row(
            Unfinished request,
            Optional<Instant> finishedAt,
            Optional<Result> result,
            Optional<byte[]> body) {}

    BackgroundRecords(Store store) {
        this.store = store;
    }

    void begin(Unfinished request) {
        var origin = request.origin();
        store.change(
                handle ->
                        handle.createUpdate(INSERT)
                                .bind("id", request.id().text())
                                .bind("account", origin.caller().account().toString())
                                .bind(
                                        "identity",
                                        origin.caller().identity().map(IdentityId::toString))
                                .bind("operation", origin.operation())
                                .bind("path", origin.path())
                                .bind("vm", request.resumption().map(Resumption::vm))
                                .bind("user", request.resumption().flatMap(Resumption::linuxUser))
                                .bind(
                                        "resumption",
                                        request.resumption().map(BackgroundRecords::detail))
                                .execute());
    }

    private static String detail(Resumption resumption) {
        return new String(Json.write(resumption.detail()), StandardCharsets.UTF_8);
    }

    /// One that was answered after all.
    void forget(BackgroundId id) {
        store.changeSoon(handle -> delete(handle, id));
    }

    private static void delete(Handle handle, BackgroundId id) {
        handle.createUpdate("delete from background_requests where id = :id")
                .bind("id", id.text())
                .execute();
    }

    /// @param result absent if it was too large to keep
    /// @param body absent if it is in a file
    void finish(BackgroundId id, Instant now, Optional<Result> result, Optional<byte[]> body) {
        store.change(
                handle ->
                        handle.createUpdate(FINISH)
                                .bind("id", id.text())
                                .bind("now", now.toEpochMilli())
                                .bind("status", result.map(Result::status))
                                .bind(
                                        "headers",
                                        result.map(Result::headers).map(BackgroundRecords::text))
                                .bind("body", body.orElse(null))
                                .bind("length", result.map(Result::length).orElse(0L))
                                .execute());
    }

    /// How much there is of each account.
    Map<AccountId, Kept.Amount> amounts() {
        return store.read(
                handle ->
                        handle
                                .createQuery(
                                        """
                                        select account_id, count(*) as records, sum(body_length) as bytes
                                        from background_requests group by account_id
                                        """)
                                .map(
                                        (row, _) ->
                                                Map.entry(
                                                        AccountId.stored(
                                                                row.getString("account_id")),
                                                        new Kept.Amount(
                                                                row.getLong("records"),
                                                                row.getLong("bytes"))))
                                .list()
                                .stream()
                                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
    }

    Optional<Row> find(AccountId account, BackgroundId id) {
        return store.read(
                handle ->
                        handle.createQuery(SELECT + "id = :id and account_id = :account")
                                .bind("id", id.text())
                                .bind("account", account.toString())
                                .map((row, _) -> row(row))
                                .findOne());
    }

    boolean has(BackgroundId id) {
        return store.read(
                handle ->
                        handle.createQuery("select 1 from background_requests where id = :id")
                                .bind("id", id.text())
                                .mapTo(Integer.class)
                                .findOne()
                                .isPresent());
    }

    List<Unfinished> unfinished() {
        return store.read(
                handle ->
                        handle.createQuery(SELECT + "finished_at is null")
                                .map((row, _) -> request(row))
                                .list());
    }

    /// One whose time is over.
    record Expired(BackgroundId id, AccountId account, long bytes) {}

    /// Removes some of those that ended before that.
    ///
    /// @return which they were; none, if there are no more
    List<Expired> expire(Instant before) {
        return store.write(
                handle -> {
                    var over =
                            handle.createQuery(OVER)
                                    .bind("before", before.toEpochMilli())
                                    .map(
                                            (row, _) ->
                                                    new Expired(
                                                            new BackgroundId(row.getString("id")),
                                                            AccountId.stored(
                                                                    row.getString("account_id")),
                                                            row.getLong("body_length")))
                                    .list();
                    over.forEach(each -> delete(handle, each.id()));
                    return over;
                });
    }

    private static Row row(ResultSet row) throws SQLException {
        long finishedAt = row.getLong("finished_at");
        var finished =
                row.wasNull()
                        ? Optional.<Instant>empty()
                        : Optional.of(Instant.ofEpochMilli(finishedAt));
        int status = row.getInt("status");
        var result =
                row.wasNull()
                        ? Optional.<Result>empty()
                        : Optional.of(
                                new Result(
                                        status,
                                        headers(row.getString("headers")),
                                        row.getLong("body_length")));
        return new Row(request(row), finished, result, Optional.ofNullable(row.getBytes("body")));
    }

    private static Unfinished request(ResultSet row) throws SQLException {
        var caller =
                new Caller(
                        AccountId.stored(row.getString("account_id")),
                        Optional.ofNullable(row.getString("identity_id")).map(IdentityId::stored));
        var user = Optional.ofNullable(row.getString("linux_user"));
        var vm = row.getString("vm_id");
        var resumption =
                Optional.ofNullable(row.getString("resumption"))
                        .map(text -> new Resumption(vm, user, parse(text)));
        return new Unfinished(
                new BackgroundId(row.getString("id")),
                new Origin(caller, row.getString("operation"), row.getString("path")),
                resumption);
    }

    private static JsonObject parse(String text) {
        return Json.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(Headers headers) {
        var fields =
                headers.fields().stream()
                        .map(
                                field ->
                                        new JsonWriter()
                                                .put("name", field.name())
                                                .put("value", field.value()))
                        .toList();
        return new String(Json.writeValue(Map.of("fields", fields)), StandardCharsets.UTF_8);
    }

    private static Headers headers(String text) {
        return new Headers(
                parse(text).requiredObjects("fields").stream()
                        .map(
                                field ->
                                        new Headers.Field(
                                                field.requiredString("name"),
                                                field.requiredString("value")))
                        .toList());
    }
}
