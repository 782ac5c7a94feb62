package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.store.Store;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/// Which users are members of which accounts. A team is an account as its members see it, and has the account's id. A membership goes with
/// its user, and whoever is no member any more is refused from its next request on.
public final class Teams {
    private static final int MAX = 1000;

    private static final String JOIN =
            """
            insert into memberships (user_id, account_id, role) values (:user, :account, :role)
            on conflict (user_id, account_id) do update set role = :role
            """;

    private static final String TEAMS =
            """
            select accounts.id, slug, accounts.name, created_at, role
            from memberships join accounts on accounts.id = account_id where user_id = :user
            """;

    private static final String MEMBERS =
            """
            select accounts.id as account_id, slug, accounts.name as account_name, accounts.created_at as account_created_at,
            role, users.id, email, users.name, users.created_at
            from memberships join accounts on accounts.id = account_id join users on users.id = user_id
            order by slug, email
            """;

    private final Store store;

    public Teams(Store store) {
        this.store = store;
    }

    /// Makes the user a member; one that is a member gets this role. `CONFLICT` when it has 1000 teams, or the account 1000 members;
    /// `NOT_FOUND` without such a user or account.
    public void join(UserId user, AccountId account, Role role) {
        try {
            store.change(handle -> join(handle, user.toString(), account.toString(), role));
        } catch (RuntimeException e) {
            if (Store.isMissingReference(e)) {
                throw new Failure(Code.NOT_FOUND, "the user or the account is not there", e);
            }
            throw e;
        }
    }

    private static void join(Handle handle, String user, String account, Role role) {
        handle.createUpdate(JOIN)
                .bind("user", user)
                .bind("account", account)
                .bind("role", role.word())
                .execute();
        refuseOverLimit(handle, "user_id", user);
        refuseOverLimit(handle, "account_id", account);
    }

    private static void refuseOverLimit(Handle handle, String column, String id) {
        var there =
                handle.createQuery(
                                "select count(*) from memberships where %s = :id".formatted(column))
                        .bind("id", id)
                        .mapTo(Integer.class)
                        .one();
        if (there > MAX) {
            throw new Failure(
                    Code.CONFLICT,
                    "a user has at most %d teams and a team at most %d members; remove one first"
                            .formatted(MAX, MAX));
        }
    }

    /// From the return on, the user does not act as the account any more. `NOT_FOUND` if it is no member.
    public void leave(UserId user, AccountId account) {
        var gone =
                store.write(
                        handle ->
                                handle.createUpdate(
                                                "delete from memberships where user_id = :user and account_id = :account")
                                        .bind("user", user.toString())
                                        .bind("account", account.toString())
                                        .execute());
        if (gone == 0) {
            throw new Failure(
                    Code.NOT_FOUND,
                    "the user is no member of that account; see './coppice team list'");
        }
    }

    /// The teams of a user, by name.
    public List<Team> of(UserId user) {
        return store.read(
                handle ->
                        handle.createQuery(TEAMS + "order by accounts.name, slug")
                                .bind("user", user.toString())
                                .map((row, _) -> team(row))
                                .list());
    }

    /// Empty if the user is not in it, or there is none with this id, or that is no id.
    public Optional<Team> find(UserId user, String id) {
        return id(id).flatMap(
                        account ->
                                store.read(
                                        handle ->
                                                handle.createQuery(
                                                                TEAMS + "and account_id = :account")
                                                        .bind("user", user.toString())
                                                        .bind("account", account)
                                                        .map((row, _) -> team(row))
                                                        .findOne()));
    }

    /// All, by account and then by email address.
    public List<Member> members() {
        return store.read(
                handle -> handle.createQuery(MEMBERS).map((row, _) -> member(row)).list());
    }

    /// As the store has it, whatever the case of its letters.
    private static Optional<String> id(String text) {
        try {
            return Optional.of(UUID.fromString(text).toString())
                    .filter(id -> id.equalsIgnoreCase(text));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static Team team(ResultSet row) throws SQLException {
        return new Team(
                new Account(
                        AccountId.stored(row.getString("id")),
                        new Slug(row.getString("slug")),
                        row.getString("name"),
                        Instant.ofEpochMilli(row.getLong("created_at"))),
                Role.parse("role", row.getString("role")));
    }

    private static Member member(ResultSet row) throws SQLException {
        return new Member(
                new Account(
                        AccountId.stored(row.getString("account_id")),
                        new Slug(row.getString("slug")),
                        row.getString("account_name"),
                        Instant.ofEpochMilli(row.getLong("account_created_at"))),
                Users.user(row),
                Role.parse("role", row.getString("role")));
    }
}
