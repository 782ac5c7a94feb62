package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitFileTest {
    private static final List<String> PIECES =
            List.of(
                    "\"",
                    "'",
                    "\\",
                    "\\\\",
                    "%",
                    "%%",
                    "%h",
                    "$",
                    "$$",
                    "${HOME}",
                    " ",
                    "  ",
                    "\t",
                    ";",
                    "#",
                    "=",
                    "[Service]",
                    "ä",
                    "€😀",
                    "a",
                    "-",
                    "|",
                    "&&",
                    "`x`",
                    "\\n",
                    "\u2028",
                    "*");

    private final Random random = Seed.random(UnitFileTest.class);

    @Test
    void whatSystemdReadsIsWhatWasGiven() {
        for (int n = 0; n < 2000; n++) {
            var environment = new LinkedHashMap<String, String>();
            for (int i = random.nextInt(4); i > 0; i--) {
                environment.put("V" + i, text());
            }
            var commands = new ArrayList<String>();
            for (int i = random.nextInt(1, 4); i > 0; i--) {
                commands.add(text() + "x");
            }
            assertReadBack(commands, environment, "/" + text().replace("/", "") + "x");
        }
    }

    private static void assertReadBack(
            List<String> commands, Map<String, String> environment, String workdir) {
        var body =
                new JsonWriter()
                        .put("name", "web")
                        .put("mode", "oneshot")
                        .put("exec", commands)
                        .put("env", environment)
                        .put("user", "app")
                        .put("workdir", workdir);
        var text = unit(body.toObject());
        var read = new UnitReader(text);
        assertEquals(
                commands.stream().map(c -> List.of("/bin/sh", "-c", c)).toList(),
                read.commands("ExecStart"),
                text);
        assertEquals(
                environment.entrySet().stream()
                        .map(e -> List.of(e.getKey() + "=" + e.getValue()))
                        .toList(),
                read.words("Environment"),
                text);
        assertEquals(List.of(workdir), read.plain("WorkingDirectory"), text);
        assertEquals(List.of("app"), read.plain("User"), text);
    }

    private String text() {
        var text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            text.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return text.toString();
    }

    @Test
    void aServiceOfNothingSaidRunsAtBootAndIsRestartedWhenItFails() {
        assertEquals(
                """
                [Unit]
                Description=web
                [Service]
                Type=simple
                ExecStartPre=/bin/sh -c "first"
                ExecStart=/bin/sh -c "second"
                WorkingDirectory=/srv
                Restart=on-failure
                RestartSec=1
                [Install]
                WantedBy=multi-user.target
                """,
                unit("{\"name\":\"web\",\"mode\":\"service\",\"exec\":[\"first\",\"second\"]}"));
    }

    @Test
    void everySettingHasItsLine() {
        assertEquals(
                """
                [Unit]
                Description=web
                After=a.service
                After=b.target
                Requires=c.service
                OnFailure=d.service
                StartLimitBurst=3
                StartLimitIntervalSec=0
                [Service]
                Type=notify
                NotifyAccess=all
                ExecStart=/bin/sh -c "run"
                Environment="A=b"
                User=app
                Group=team
                WorkingDirectory=/here
                TimeoutStartSec=infinity
                TimeoutStopSec=infinity
                WatchdogSec=9
                Restart=always
                RestartSec=2
                [Install]
                WantedBy=graphical.target
                WantedBy=x.service
                """,
                unit(
                        """
                        {"name":"web.service","mode":"service","exec":["run"],"env":{"A":"b"},"user":"app","group":"team","workdir":"/here",
                        "after":["a","b.target"],"requires":["c"],"onFailure":["d"],"wantedBy":["graphical","x.service"],"enable":false,
                        "timeoutSec":0,"readySignal":true,"watchdogSec":9,
                        "restartPolicy":{"policy":"always","restartSec":2,"startLimitBurst":3,"startLimitIntervalSec":0}}
                        """));
    }

    @ParameterizedTest
    @CsvSource({
        "'{}', yes",
        "'{\"remainAfterExit\":true}', yes",
        "'{\"remainAfterExit\":false}', no",
        "'{\"deleteAfterSuccess\":true}', no"
    })
    void aOneshotStaysUnlessItIsNotTo(String more, String expected) {
        var text =
                unit(
                        "{\"name\":\"x\",\"mode\":\"oneshot\",\"exec\":[\"true\"]%s"
                                .formatted(more.equals("{}") ? "}" : "," + more.substring(1)));
        var read = new UnitReader(text);
        assertEquals(List.of(expected), read.raw("RemainAfterExit"));
        assertEquals(List.of(), read.raw("Restart"));
        assertEquals(more.contains("delete") ? 1 : 0, read.raw("ExecStopPost").size());
    }

    @Test
    void aUsersUnitHasNoUserAndIsWantedByTheUsersDefault() {
        var service =
                ServiceFields.service(
                        json(
                                "{\"name\":\"x\",\"mode\":\"service\",\"exec\":[\"y\"],\"user\":\"app\"}"));
        var read = new UnitReader(UnitFile.unit(service, true, Optional.empty()));
        assertEquals(List.of(), read.raw("User"));
        assertEquals(List.of(), read.raw("WorkingDirectory"));
        assertEquals(List.of("default.target"), read.raw("WantedBy"));
    }

    @Test
    void aPatchSaysOnlyWhatIsChangedAndReplacesCommands() {
        var nothing =
                new UnitReader(UnitFile.dropIn(ServiceFields.patch(json("{\"name\":\"x\"}"))));
        for (var setting : List.of("Type", "ExecStart", "Restart", "WantedBy", "User")) {
            assertEquals(List.of(), nothing.raw(setting), setting);
        }
        var read =
                new UnitReader(
                        UnitFile.dropIn(
                                ServiceFields.patch(json("{\"name\":\"x\",\"exec\":[\"y\"]}"))));
        assertEquals(List.of("", "/bin/sh -c \"y\""), read.raw("ExecStart"));
    }

    private static String unit(String json) {
        return unit(json(json));
    }

    private static String unit(JsonObject body) {
        return UnitFile.unit(ServiceFields.service(body), false, Optional.of("/srv"));
    }

    private static JsonObject json(String text) {
        return Json.parse(text.getBytes(StandardCharsets.UTF_8));
    }
}
