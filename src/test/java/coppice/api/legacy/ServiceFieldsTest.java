package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Failure;
import coppice.json.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServiceFieldsTest {
    private static final String LONG = "x".repeat(129);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"name\":\"\" | SERVICE_NAME_EMPTY",
                "\"name\":\".service\" | SERVICE_NAME_EMPTY",
                "\"name\":\"LONG\" | SERVICE_NAME_TOO_LONG",
                "\"name\":\".x\" | SERVICE_NAME_INVALID_PREFIX",
                "\"name\":\"-x\" | SERVICE_NAME_INVALID_PREFIX",
                "\"name\":\"a/b\" | SERVICE_NAME_INVALID_CHARS",
                "\"name\":\"a b\" | SERVICE_NAME_INVALID_CHARS",
                "\"name\":\"a\\u0000b\" | SERVICE_NAME_INVALID_CHARS",
                "\"name\":\"a\\u00a0b\" | SERVICE_NAME_INVALID_CHARS",
                "\"name\":\"a%b\" | VALIDATION_ERROR",
                "\"name\":\"a\\\\b\" | VALIDATION_ERROR",
                "\"name\":\"a@\" | VALIDATION_ERROR",
                "\"exec\":[] | EXEC_EMPTY",
                "\"exec\":[\"\"] | EXEC_EMPTY",
                "\"exec\":[\"true\",\" \"] | EXEC_EMPTY",
                "\"exec\":null | EXEC_EMPTY",
                "\"exec\":[\"a\\nb\"] | VALIDATION_ERROR",
                "\"exec\":[\"a\\rb\"] | VALIDATION_ERROR",
                "\"env\":{\"\":\"x\"} | ENV_KEY_EMPTY",
                "\"env\":{\"A=B\":\"x\"} | ENV_KEY_CONTAINS_EQUALS",
                "\"env\":{\"A B\":\"x\"} | VALIDATION_ERROR",
                "\"env\":{\"A\":\"x\\ny\"} | VALIDATION_ERROR",
                "\"user\":\"\" | USER_EMPTY",
                "\"user\":\"a\\nb\" | VALIDATION_ERROR",
                "\"group\":\"\" | GROUP_EMPTY",
                "\"workdir\":\"\" | WORKDIR_EMPTY",
                "\"workdir\":\"here\" | VALIDATION_ERROR",
                "\"workdir\":\"/a/../b\" | VALIDATION_ERROR",
                "\"workdir\":\"/a\\\\\" | VALIDATION_ERROR",
                "\"workdir\":\"/a \" | VALIDATION_ERROR",
                "\"wantedBy\":[] | WANTED_BY_EMPTY",
                "\"wantedBy\":[\"\"] | WANTED_BY_EMPTY",
                "\"wantedBy\":[\"a b.target\"] | VALIDATION_ERROR",
                "\"after\":[\"\"] | AFTER_ARRAY_CONTAINS_EMPTY",
                "\"after\":[\"a.nothing\"] | VALIDATION_ERROR",
                "\"requires\":[\"x\",\"\"] | REQUIRES_ARRAY_CONTAINS_EMPTY",
                "\"onFailure\":[\"\"] | ON_FAILURE_ARRAY_CONTAINS_EMPTY",
                "\"mode\":\"daemon\" | VALIDATION_ERROR",
                "\"mode\":null | VALIDATION_ERROR",
                "\"restartPolicy\":{\"policy\":\"never\"} | VALIDATION_ERROR",
                "\"timeoutSec\":-1 | BAD_REQUEST",
                "\"restartPolicy\":{} | BAD_REQUEST"
            })
    void eachFaultHasItsOwnName(String field, String code) {
        var name = field.substring(1, field.indexOf('"', 1));
        var usual = "\"name\":\"web\",\"mode\":\"service\",\"exec\":[\"true\"]";
        var rest =
                java.util.Arrays.stream(usual.split(",(?=\")"))
                        .filter(part -> !part.startsWith("\"" + name + "\""))
                        .toList();
        var body = "{%s,%s}".formatted(String.join(",", rest), field.replace("LONG", LONG));
        var failure =
                assertThrows(
                        Failure.class,
                        () ->
                                ServiceFields.service(
                                        Json.parse(body.getBytes(StandardCharsets.UTF_8))),
                        body);
        assertEquals(code, failure.code().name(), failure.getMessage());
    }

    @Test
    void aOneshotCannotBeRestartedAlways() {
        var body =
                "{\"name\":\"x\",\"mode\":\"oneshot\",\"exec\":[\"y\"],\"restartPolicy\":{\"policy\":\"always\"}}";
        var failure =
                assertThrows(
                        Failure.class,
                        () ->
                                ServiceFields.service(
                                        Json.parse(body.getBytes(StandardCharsets.UTF_8))));
        assertEquals("VALIDATION_ERROR", failure.code().name());
    }
}
