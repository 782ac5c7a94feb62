package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SystemdTest {
    private final List<GuestShell.Script> asked = new ArrayList<>();

    private Systemd answering(int status, String stdout, String stderr) {
        return Systemd.ofSystem(shell(status, stdout, stderr));
    }

    private GuestShell shell(int status, String stdout, String stderr) {
        return (script, _) -> {
            asked.add(script);
            return new GuestShell.Answer(Optional.of(status), stdout, stderr, false);
        };
    }

    private static Service service() {
        return ServiceFields.service(
                Json.parse(
                        "{\"name\":\"web\",\"mode\":\"service\",\"exec\":[\"rm -rf '; $x\"],\"user\":\"app\"}"
                                .getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource({
        "81, SERVICE_ALREADY_EXISTS",
        "82, USER_NOT_FOUND",
        "83, GROUP_NOT_FOUND",
        "90, CONFLICT",
        "1, UNAVAILABLE",
        "137, UNAVAILABLE"
    })
    void eachReasonWhyAUnitIsNotThereHasItsName(int status, Code code) {
        var systemd = answering(status, "", "Failed:\n it is full\u0007");
        var failure = assertThrows(Failure.class, () -> systemd.create(service(), "/"));
        assertEquals(code, failure.code());
        assertTrue(failure.getMessage().chars().noneMatch(Character::isISOControl));
        if (status == 1) {
            assertTrue(failure.getMessage().endsWith("Failed: it is full"), failure.getMessage());
        }
    }

    @Test
    void whatACallerSaysIsNeverPartOfAScript() {
        answering(0, "", "").create(service(), "/srv/'x");
        var script = asked.getFirst();
        assertEquals(SystemdScripts.CREATE, script.text());
        assertEquals("web.service", script.environment().get("UNIT"));
        assertEquals("app", script.environment().get("RUN_AS"));
        assertTrue(new String(script.stdin(), StandardCharsets.UTF_8).contains("rm -rf '; $$x"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a/b",
                "-x",
                "",
                ".service",
                "a b",
                "a\nb",
                "a*",
                "a;b",
                "$(x)",
                "ä",
                "../x"
            })
    void aNameThatNoServiceHasIsAbsentWithoutAskingTheGuest(String name) {
        var systemd = answering(0, "", "");
        for (var act :
                List.<Runnable>of(
                        () -> systemd.status(name),
                        () -> systemd.delete(name),
                        () -> systemd.logs(name, 1, Optional.empty()))) {
            assertEquals(Code.SERVICE_NOT_FOUND, assertThrows(Failure.class, act::run).code());
        }
        assertFalse(systemd.act(Systemd.Act.START, name, soon()).isSuccess());
        assertEquals(List.of(), asked);
    }

    @Test
    void anUnknownServiceIsAFailureOfOneAndAResultOfMany() {
        var systemd = answering(80, "", "");
        assertEquals(
                Code.SERVICE_NOT_FOUND,
                assertThrows(Failure.class, () -> systemd.status("web.service")).code());
        assertEquals(
                new Systemd.Result(false, "there is no service web in this VM"),
                systemd.act(Systemd.Act.STOP, "web", soon()));
        assertEquals(
                new Systemd.Result(true, "restarted"),
                answering(0, "", "").act(Systemd.Act.RESTART, "web", soon()));
        assertEquals(
                new Systemd.Result(false, "Job failed."),
                answering(1, "", "Job failed.\n").act(Systemd.Act.START, "web", soon()));
    }

    @Test
    void theListIsSortedAndEachServiceIsInItOnce() {
        var listed =
                answering(0, "b.service\na.service\ngetty@.service\nb.service\nx@y.service\n\n", "")
                        .list();
        assertEquals(List.of("a", "b", "x@y"), listed);
    }

    @Test
    void aUsersServicesAreAskedOfItsOwnManagerAsThatUser() {
        var systemd = Systemd.of(shell(0, "1500\n", ""), Optional.of("app"));
        systemd.list();
        assertEquals("root", asked.getFirst().user());
        var second = asked.getLast();
        assertEquals("app", second.user());
        assertEquals("--user", second.environment().get("MANAGER"));
        assertEquals("/run/user/1500", second.environment().get("XDG_RUNTIME_DIR"));
        assertEquals(
                Code.USER_NOT_FOUND,
                assertThrows(
                                Failure.class,
                                () -> Systemd.of(shell(82, "", ""), Optional.of("nobody")))
                        .code());
    }

    @Test
    void linesOfTheJournalAreReadWhateverTheirMessageIs() {
        var lines =
                JournalLine.parse(
                        """
                        {"MESSAGE":"plain","__REALTIME_TIMESTAMP":"1000001","PRIORITY":"6","_SYSTEMD_UNIT":"web.service"}
                        {"MESSAGE":[104,105],"__REALTIME_TIMESTAMP":"2000000","UNIT":"web.service","_SYSTEMD_UNIT":"init.scope"}
                        {"MESSAGE":null,"__REALTIME_TIMESTAMP":"3000000"}
                        nonsense
                        {"MESSAGE":"x","__REALTIME_TIMESTAMP":"many"}
                        """);
        assertEquals(
                List.of(
                        new JournalLine(
                                "plain",
                                Instant.parse("1970-01-01T00:00:01.000001Z"),
                                Optional.of("6"),
                                Optional.of("web.service")),
                        new JournalLine(
                                "hi",
                                Instant.ofEpochSecond(2),
                                Optional.empty(),
                                Optional.of("web.service")),
                        new JournalLine(
                                "", Instant.ofEpochSecond(3), Optional.empty(), Optional.empty())),
                lines);
        assertEquals("@1.500000", JournalLine.since(Instant.ofEpochMilli(1500)));
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(10));
    }
}
