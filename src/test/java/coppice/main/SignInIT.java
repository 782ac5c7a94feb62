package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Users and teams by command line, and what they do with a whole server.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SignInIT {
    private static final String TYPED = "a password that is typed";

    @AutoClose private Installation installation;
    private SignInSteps steps;

    @BeforeAll
    void start() {
        installation = Installation.start();
        steps = new SignInSteps(installation.clientWithKey(""));
    }

    private String program(String... arguments) {
        return installation.program(arguments).strip();
    }

    private void refused(int status, String words, String... arguments) {
        var outcome = installation.tryProgram(arguments);
        assertEquals(status, outcome.status(), outcome.output());
        assertTrue(outcome.output().contains(words), outcome.output());
    }

    /// What a member of this team sees of it.
    private Client member(String accessToken) {
        var teams =
                installation
                        .clientWithKey(accessToken)
                        .get("/api/cli/teams")
                        .expect(200)
                        .requiredObjects("teams");
        return installation
                .clientWithKey(accessToken)
                .with("X-Svc-Team-Id", teams.getFirst().requiredString("teamId"));
    }

    @Test
    void aMemberUsesVmsOfItsTeamUntilItIsRemovedAndNothingOfItIsLeftOpen() throws IOException {
        var email = "ada@example.org";
        var password = program("user", "create", email, "--name", "Ada", "--account", "ada");
        var refresh = steps.signIn("Ada@Example.org", password);
        var access = steps.accessToken(refresh);
        var ada = member(access);
        var vm = ada.createVm();
        assertEquals("hello", ada.run(vm, "echo hello"));
        var terminal = ada.terminal(vm, "?command=cat");
        terminal.text();
        program("team", "remove", email, "--account", "ada");
        ada.get("/v5/vms").expect(403, "CLI_TEAM_ACCESS_DENIED");
        assertEquals(1008, terminal.closed());
        program("team", "add", email, "--account", "ada", "--role", "owner");
        ada.delete("/v5/vms/" + vm).expect(204);

        program("user", "delete", email);
        ada.get("/v5/vms").expect(401, "INVALID_CLI_CREDENTIAL");
        steps.refresh(refresh).expect(401, "INVALID_CLI_CREDENTIAL");
        var log = Files.readString(installation.log());
        for (var secret : List.of(password, refresh.substring(25), access.substring(25))) {
            assertFalse(log.contains(secret), "it shows");
        }
    }

    @Test
    void aPasswordIsTypedOrMadeAndAnotherOneEndsAllSignIns() {
        var email = "typed@example.org";
        var created =
                installation.tryProgramReading(
                        TYPED + "\n", "user", "create", email, "--ask-password");
        assertEquals("", created.output());
        assertEquals(0, created.status());
        var refresh = steps.signIn(email, TYPED);
        var made = program("user", "password", email);
        assertTrue(made.matches("[A-Za-z0-9]{24}"), "a password that is made");
        steps.refresh(refresh).expect(401, "INVALID_CLI_CREDENTIAL");
        assertEquals(403, steps.confirm(steps.begin(), email, TYPED).status());
        steps.signIn(email, made);
        var brief =
                installation.tryProgramReading(
                        "short\n", "user", "password", email, "--ask-password");
        assertEquals(2, brief.status());
        assertTrue(brief.output().contains("10 to 200 characters"), brief.output());
        assertFalse(brief.output().contains("short"), brief.output());
        steps.signIn(email, made);
    }

    @Test
    void commandsThatCannotBeDoneSayWhatToDo() {
        program("user", "create", "once@example.org");
        refused(
                5,
                "'./coppice user password' gives it a new password",
                "user",
                "create",
                "ONCE@example.org");
        refused(2, "EMAIL must be an email address", "user", "create", "nobody");
        refused(2, "--role must be owner or member", "user", "create", "x@y.org", "--role", "king");
        refused(2, "--account must be", "user", "create", "x@y.org", "--account", "Not A Slug");
        refused(4, "'./coppice user list' shows", "user", "delete", "nobody@example.org");
        refused(4, "'./coppice user list' shows", "user", "password", "nobody@example.org");
        refused(4, "'./coppice user list' shows", "team", "add", "nobody@example.org");
        refused(
                4,
                "'./coppice key create --account none'",
                "team",
                "add",
                "once@example.org",
                "--account",
                "none");
        program("key", "create", "--account", "other");
        refused(
                4,
                "see './coppice team list'",
                "team",
                "remove",
                "once@example.org",
                "--account",
                "other");
        assertFalse(program("user", "list").contains("x@y.org"), "nothing is left of it");
        for (var command : List.of("user", "team")) {
            assertTrue(program(command, "--help").contains("list"), command);
        }
    }

    @Test
    void usersAndMembersAreListedAndSoAreTheKeysThatTheyMade() {
        var email = "maker@example.org";
        var password = program("user", "create", email, "--name", "Maker", "--account", "made");
        program("user", "create", "second@example.org", "--account", "made", "--role", "member");
        assertTrue(program("user", "list").contains(email + "  (Maker)"));
        assertEquals(
                "made  owner  maker@example.org\nmade  member  second@example.org",
                program("team", "list", "--account", "made"));
        assertTrue(program("team", "list").contains("made  owner"));
        var access = steps.accessToken(steps.signIn(email, password));
        var account =
                installation
                        .clientWithKey(access)
                        .get("/api/cli/teams")
                        .expect(200)
                        .requiredString("defaultTeamId");
        var key =
                installation
                        .clientWithKey("")
                        .with("x-stack-auth", "{\"accessToken\":\"%s\"}".formatted(access))
                        .post("/api/accounts/%s/tokens".formatted(account), "{\"name\":\"laptop\"}")
                        .expect(200)
                        .requiredString("token");
        var id = key.substring(0, 20);
        installation.clientWithKey(key).get("/v5/vms").expect(200);
        var listed = program("key", "list", "--account", "made");
        assertTrue(listed.endsWith("active  laptop  (made by maker@example.org)"), listed);
        var warned = program("user", "delete", email);
        assertTrue(warned.contains("key revoke --account made " + id), warned);
        assertTrue(program("key", "list", "--account", "made").contains("made by deleted user"));
        installation.clientWithKey(key).get("/v5/vms").expect(200);
        program("key", "revoke", "--account", "made", id);
        installation.clientWithKey(key).get("/v5/vms").expect(401, "INVALID_API_KEY");
        requireRecorded(account, id, key.substring(21), password, access);
    }

    private void requireRecorded(String account, String key, String... secrets) {
        var lines = program("audit", "--account", "made").lines().toList();
        var operations =
                lines.stream()
                        .map(line -> Json.parse(line.getBytes(StandardCharsets.UTF_8)))
                        .peek(it -> assertEquals(account, it.requiredString("account")))
                        .map(
                                it ->
                                        "%s %s %s"
                                                .formatted(
                                                        it.string("credential")
                                                                .filter("operator"::equals)
                                                                .orElse("user"),
                                                        it.requiredString("operation"),
                                                        it.requiredString("path")))
                        .toList();
        assertEquals(
                List.of(
                        "operator user create maker@example.org",
                        "operator user create second@example.org",
                        "user createApiKey /api/accounts/%s/tokens".formatted(account),
                        "operator key revoke " + key),
                operations);
        var all = program("audit", "--lines", "1000");
        assertTrue(all.contains("\"confirmSignIn\"") && all.contains("\"user delete\""), all);
        for (var secret : secrets) {
            assertFalse(all.contains(secret), "a secret shows");
        }
    }
}
