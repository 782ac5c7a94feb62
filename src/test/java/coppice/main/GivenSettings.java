package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Settings read from a file of the test's own and from variables.
record GivenSettings(Path file) {
    Settings read() {
        return Settings.read(Map.of("COPPICE_CONFIG", file.toString()));
    }

    Settings read(String key, String value) {
        var environment = new HashMap<>(Map.of("COPPICE_CONFIG", file.toString()));
        environment.put(Settings.variable(key), value);
        return Settings.read(environment);
    }

    static List<String> mistakes(Settings settings) {
        var failure = assertThrows(Failure.class, settings::check);
        assertEquals(Code.BAD_REQUEST, failure.code());
        var lines = failure.getMessage().lines().toList();
        assertFalse(lines.isEmpty());
        return lines.stream().skip(1).map(String::strip).toList();
    }
}
