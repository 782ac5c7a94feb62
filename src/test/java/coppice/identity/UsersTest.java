package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Users and the teams that they are in.
class UsersTest {
    @TempDir private Path directory;
    private GivenSignIns given;

    @BeforeEach
    void open() {
        given = new GivenSignIns(directory);
    }

    @AfterEach
    void close() {
        given.close();
    }

    private static Code code(Runnable refused) {
        return assertThrows(Failure.class, refused::run).code();
    }

    private Optional<Role> role(User user, String team) {
        return given.teams().find(user.id(), team).map(Team::role);
    }

    @Test
    void anEmailAddressIsOneUsersWhateverTheCase() {
        assertEquals(Code.CONFLICT, code(() -> given.user("ADA@Example.org", Optional.empty())));
        var eve = given.user("Eve@example.org", Optional.of("Eve"));
        assertEquals("eve@example.org", eve.email().text());
        assertEquals(List.of(given.user, eve), given.users().list());
        assertEquals(eve, given.users().require(Email.parse("email", "EVE@example.org")));
        assertEquals(Optional.of(eve), given.users().find(eve.id()));
    }

    @Test
    void aUserThatIsNotThereIsSaidToBeAbsent() {
        var nobody = Email.parse("email", "nobody@example.org");
        assertEquals(Code.NOT_FOUND, code(() -> given.users().require(nobody)));
        assertEquals(Optional.empty(), given.users().find(UserId.random()));
        assertEquals(
                Code.BAD_REQUEST, code(() -> given.user("eve@example.org", Optional.of("\u0007"))));
    }

    @Test
    void aTeamIsFoundByTheIdOfItsAccountAndOnlyByItsMembers() {
        var ada = given.ada.id().toString();
        assertEquals(Optional.of(Role.OWNER), role(given.user, ada));
        assertEquals(Optional.of(Role.OWNER), role(given.user, ada.toUpperCase(Locale.ROOT)));
        for (var other :
                List.of(
                        given.bob.id().toString(),
                        "00000000-0000-0000-0000-000000000000",
                        "ada",
                        "",
                        "1-1-1-1-1",
                        ada + " ")) {
            assertEquals(Optional.empty(), role(given.user, other), other);
        }
        var eve = given.user("eve@example.org", Optional.empty());
        assertEquals(Optional.empty(), role(eve, ada));
    }

    @Test
    void whoJoinsAgainGetsTheOtherRoleAndWhoLeavesIsOutAtOnce() {
        var teams = given.teams();
        teams.join(given.user.id(), given.bob.id(), Role.MEMBER);
        assertEquals(
                List.of(new Team(given.ada, Role.OWNER), new Team(given.bob, Role.MEMBER)),
                teams.of(given.user.id()));
        teams.join(given.user.id(), given.bob.id(), Role.OWNER);
        assertEquals(Optional.of(Role.OWNER), role(given.user, given.bob.id().toString()));
        teams.leave(given.user.id(), given.bob.id());
        assertEquals(Optional.empty(), role(given.user, given.bob.id().toString()));
        assertEquals(Code.NOT_FOUND, code(() -> teams.leave(given.user.id(), given.bob.id())));
        assertEquals(
                Code.NOT_FOUND,
                code(() -> teams.join(UserId.random(), given.bob.id(), Role.MEMBER)));
        assertEquals(Code.BAD_REQUEST, code(() -> Role.parse("--role", "OWNER")));
    }

    @Test
    void membersAreListedByAccountAndGoWithTheirUser() {
        var eve = given.user("eve@example.org", Optional.empty());
        given.teams().join(eve.id(), given.ada.id(), Role.MEMBER);
        given.teams().join(eve.id(), given.bob.id(), Role.MEMBER);
        assertEquals(
                List.of(
                        new Member(given.ada, given.user, Role.OWNER),
                        new Member(given.ada, eve, Role.MEMBER),
                        new Member(given.bob, eve, Role.MEMBER)),
                given.teams().members());
        given.users().delete(eve.id());
        assertEquals(1, given.teams().members().size());
    }

    @Test
    void aKeyTellsWhoMadeItAlsoWhenThatOneIsGone() {
        var made = given.keys().create(given.ada.id(), "laptop", given.user.id()).key();
        given.users().delete(given.user.id());
        var listed = given.keys().list(given.ada.id());
        assertEquals(List.of(made), listed);
        assertEquals(Optional.of(given.user.id()), listed.getFirst().maker());
        assertTrue(listed.getFirst().revokedAt().isEmpty(), "it works");
    }
}
