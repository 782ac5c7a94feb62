package coppice.json;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class JsonObjectTest {

    @Test
    void fieldsAreReadByType() {
        var json =
                parse(
                        """
                        {"s": "x", "i": -9223372036854775808, "b": true, "n": 1.5, "o": {"p": 1},
                         "l": ["a", "b"], "os": [{"q": 2}], "m": {"k": "v"}, "is": [1, 2]}
                        """);
        assertEquals("x", json.requiredString("s"));
        assertEquals(Long.MIN_VALUE, json.requiredInteger("i"));
        assertTrue(json.requiredBool("b"));
        assertEquals("1.5", json.number("n").orElseThrow().toString());
        assertEquals(1, json.requiredObject("o").requiredInteger("p"));
        assertEquals(Optional.of(List.of("a", "b")), json.strings("l"));
        assertEquals(2, json.requiredObjects("os").getFirst().requiredInteger("q"));
        assertEquals(Optional.of(Map.of("k", "v")), json.stringMap("m"));
        assertEquals(Optional.of(List.of(1L, 2L)), json.integers("is"));
    }

    @Test
    void nullEqualsAbsentButCanBeToldApart() {
        var json = parse("{\"a\": null}");
        assertEquals(Optional.empty(), json.string("a"));
        assertEquals(Optional.empty(), json.integer("b"));
        assertFalse(json.has("a"));
        assertTrue(json.isNull("a"));
        assertFalse(json.isNull("b"));
    }

    @Test
    void numbersThatAreNoIntegersOf64BitsAreRefused() {
        for (var number : List.of("1.0", "1e3", "1.5", "\"1\"", "true", "[1]", "1e0")) {
            assertFault(
                    "a: must be an integer, written without quotes, point and exponent, not ",
                    () -> parse("{\"a\": %s}".formatted(number)).integer("a"));
        }
        for (var number : List.of("9223372036854775808", "-9223372036854775809")) {
            assertFault(
                    "a: is too large; an integer has 64 bits",
                    () -> parse("{\"a\": %s}".formatted(number)).integer("a"));
        }
    }

    @Test
    void messagesStartWithTheWholePath() {
        var json =
                parse(
                        """
                        {"resources": {"cpu": "4"}, "vpcs": [{}, {"routes": [{"via": 1}]}],
                         "metadata": {"env": 1}, "names": ["a", null]}
                        """);
        assertFault(
                "resources.cpu: must be an integer",
                () -> json.requiredObject("resources").integer("cpu"));
        assertFault(
                "vpcs[1].routes[0].via: must be a string, not an integer",
                () ->
                        json.requiredObjects("vpcs")
                                .get(1)
                                .requiredObjects("routes")
                                .getFirst()
                                .string("via"));
        assertFault(
                "metadata.env: must be a string, not an integer", () -> json.stringMap("metadata"));
        assertFault("names[1]: must be a string, not null", () -> json.strings("names"));
        assertFault("command: is required; send it", () -> json.requiredString("command"));
        assertFault(
                "resources.cpu: must be at most 64",
                () -> {
                    throw json.requiredObject("resources").fault("cpu", "must be at most 64");
                });
    }

    @Test
    void unknownFieldsAreNamedWhereTheyAreRefused() {
        var json = parse("{\"firewall\": {\"rules\": [], \"rulez\": []}}");
        assertFault(
                "firewall.rulez: is not a field here; use only rules",
                () -> json.requiredObject("firewall").refuseFieldsExcept("rules"));
        json.refuseFieldsExcept("firewall", "tls");
    }

    @Test
    void longAndUnprintableNamesDoNotFillTheMessage() {
        var json = parse("{\"%s\\n\": 1}".formatted("x".repeat(5000)));
        var failure = assertThrows(Failure.class, () -> json.refuseFieldsExcept("a"));
        assertTrue(failure.getMessage().length() < 300);
    }

    @Test
    void aSchemaRefusesWrongTypesAndIgnoresMissingAndUnknownFields() {
        var schema =
                Schema.object("Create")
                        .field("slug", Schema.string().orNull(), OPTIONAL, "")
                        .field("cpu", Schema.integer(1, 64), ALWAYS, "")
                        .field("metadata", Schema.map(Schema.string()), OPTIONAL, "")
                        .field("ipv4", Schema.anyOf(Schema.string(), Schema.bool()), OPTIONAL, "")
                        .field(
                                "vpcs",
                                Schema.list(
                                        Schema.object().field("id", Schema.string(), ALWAYS, "")),
                                OPTIONAL,
                                "");
        schema.check(parse("{\"other\": 1, \"slug\": null, \"cpu\": null, \"ipv4\": false}"));
        schema.check(parse("{\"cpu\": 1000, \"vpcs\": [{\"x\": 1}]}"));
        assertFault("cpu: must be an integer", () -> schema.check(parse("{\"cpu\": \"1\"}")));
        assertFault("slug: must be a string", () -> schema.check(parse("{\"slug\": 1}")));
        assertFault(
                "metadata.a: must be a string, not null",
                () -> schema.check(parse("{\"metadata\": {\"a\": null}}")));
        assertFault(
                "ipv4: must be a string or true or false, not an integer",
                () -> schema.check(parse("{\"ipv4\": 1}")));
        assertFault(
                "vpcs[1].id: must be a string",
                () -> schema.check(parse("{\"vpcs\": [{}, {\"id\": {}}]}")));
        assertFault("vpcs: must be an array", () -> schema.check(parse("{\"vpcs\": {}}")));
        assertFault("vpcs[0]: must be an object", () -> schema.check(parse("{\"vpcs\": [1]}")));
    }

    @Test
    void aSchemaDescribesNamedShapesOnce() {
        var inner = Schema.object("Inner").field("at", Schema.time(), ALWAYS, "When.");
        var outer =
                Schema.object("Outer")
                        .field("a", inner, ALWAYS, "First.")
                        .field("b", Schema.list(inner), OPTIONAL, "More.")
                        .field("state", Schema.word("on", "off").orNull(), OPTIONAL, "Now.");
        var components = new TreeMap<String, Object>();
        var text = new JsonWriter().put("is", outer.describe(components)).put("c", components);
        assertEquals(
                "{\"is\":{\"$ref\":\"#/components/schemas/Outer\"},\"c\":{\"Inner\":{\"type\":\"object\","
                        + "\"properties\":{\"at\":{\"type\":\"string\",\"format\":\"date-time\",\"description\":\"When.\"}},"
                        + "\"required\":[\"at\"]},\"Outer\":{\"type\":\"object\",\"properties\":{"
                        + "\"a\":{\"$ref\":\"#/components/schemas/Inner\",\"description\":\"First.\"},"
                        + "\"b\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Inner\"},\"description\":\"More.\"},"
                        + "\"state\":{\"anyOf\":[{\"type\":\"string\",\"enum\":[\"on\",\"off\"]},{\"type\":\"null\"}],"
                        + "\"description\":\"Now.\"}},"
                        + "\"required\":[\"a\"]}}}",
                new String(Json.write(text), UTF_8));
    }

    private static JsonObject parse(String text) {
        return Json.parse(text.getBytes(UTF_8));
    }

    private static void assertFault(String start, Executable read) {
        var failure = assertThrows(Failure.class, read);
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().startsWith(start), failure.getMessage());
    }
}
