package coppice.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "[]",
                "1",
                "\"a\"",
                "{",
                "{\"a\":}",
                "{\"a\":1,}",
                "{'a':1}",
                "{a:1}",
                "{\"a\":01}",
                "{\"a\":+1}",
                "{\"a\":.5}",
                "{\"a\":NaN}",
                "{\"a\":tru}",
                "{\"a\":1}{",
                "{\"a\":1} x",
                "{\"a\":1} {}",
                "{\"a\":1,\"a\":2}",
                "{\"b\":{\"a\":1,\"a\":2}}",
                "{/* no */}",
                "{\"a\":\"\t\"}",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\ud800\"}",
                "{\"\\udc00\":1}",
                "\u0000",
                "{\"a\":1]"
            })
    void textThatIsNoJsonObjectIsRefused(String text) {
        assertRefused(text.getBytes(UTF_8));
    }

    @Test
    void otherEncodingsThanUtf8AreRefused() {
        var overlong = new byte[] {'{', '"', (byte) 0xc0, (byte) 0xaf, '"', ':', '1', '}'};
        var cut = new byte[] {'{', '"', (byte) 0xc3};
        var surrogate =
                new byte[] {'{', '"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"', ':', '1', '}'};
        for (var bytes : List.of(overlong, cut, surrogate)) {
            assertRefused(bytes);
        }
        assertRefused("{\"a\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_16));
        assertRefused("{\"a\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_16LE));
        assertRefused("{\"a\":1}".getBytes(java.nio.charset.Charset.forName("UTF-32")));
    }

    @Test
    void aMebibyteOfGarbageIsRefusedQuickly() {
        var random = new Random(7);
        var garbage = new byte[1 << 20];
        for (int round = 0; round < 5; round++) {
            random.nextBytes(garbage);
            garbage[0] = '{';
            assertTimeoutPreemptively(Duration.ofSeconds(5), () -> assertRefused(garbage));
        }
    }

    @Test
    void deepNestingIsRefusedQuickly() {
        assertTimeoutPreemptively(
                Duration.ofSeconds(5),
                () -> {
                    assertRefused("{\"a\":".repeat(100_000).getBytes(UTF_8));
                    assertRefused(("{\"a\":" + "[".repeat(100_000)).getBytes(UTF_8));
                });
    }

    @Test
    void nestingUpToTheLimitIsRead() {
        var text = "{\"a\":" + "[".repeat(63) + "]".repeat(63) + "}";
        assertTrue(Json.parse(text.getBytes(UTF_8)).has("a"));
    }

    @Test
    void hugeNumbersAreRefusedOrReadWithoutExpandingThem() {
        assertRefused(("{\"a\":" + "9".repeat(1 << 20) + "}").getBytes(UTF_8));
        assertRefused("{\"a\":1e99999999999}".getBytes(UTF_8));
        var object = Json.parse("{\"a\":1e999999999}".getBytes(UTF_8));
        assertEquals("{\"a\":1E+999999999}", new String(Json.write(object), UTF_8));
    }

    @Test
    void membersWithoutValueAreOmittedAndTimesHaveMilliseconds() {
        var json =
                new JsonWriter()
                        .put("id", UUID.fromString("6f1c2f0e-5d7b-4f6c-9a4e-0b1f9a3f2d11"))
                        .put("slug", Optional.empty())
                        .put("name", Optional.of("x"))
                        .put("at", Instant.parse("2026-03-01T09:30:00Z"))
                        .put("then", Instant.parse("2026-03-01T09:30:04.1209Z"))
                        .put("map", Map.of("a", Optional.empty()))
                        .put("list", List.of(1, 2L, 0.5, new JsonWriter().put("b", true)))
                        .putOrNull("statusCode", Optional.empty());
        assertEquals(
                "{\"id\":\"6f1c2f0e-5d7b-4f6c-9a4e-0b1f9a3f2d11\",\"name\":\"x\","
                        + "\"at\":\"2026-03-01T09:30:00.000Z\",\"then\":\"2026-03-01T09:30:04.120Z\","
                        + "\"map\":{},\"list\":[1,2,0.5,{\"b\":true}],\"statusCode\":null}",
                new String(Json.write(json), UTF_8));
    }

    @Test
    void halfASurrogatePairIsWrittenAsTheReplacementCharacter() {
        var json = new JsonWriter().put("out", "a\ud800b");
        assertEquals("{\"out\":\"a\ufffdb\"}", new String(Json.write(json), UTF_8));
    }

    @Test
    void prettyTextIsIndentedAndEndsWithANewline() {
        var json = new JsonWriter().put("a", List.of(1)).put("b", new JsonWriter().put("c", "d"));
        assertEquals(
                "{\n  \"a\" : [\n    1\n  ],\n  \"b\" : {\n    \"c\" : \"d\"\n  }\n}\n",
                new String(Json.pretty(json), UTF_8));
    }

    @Test
    void whatIsWrittenIsReadBackEqual() {
        var seed = System.nanoTime();
        var random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            var object = JsonObject.of(object(random, 4));
            var compact = Json.write(object);
            assertEquals(object, Json.parse(compact), "seed " + seed);
            var pretty = Json.pretty(new JsonWriter().put("it", object));
            assertEquals(object, Json.parse(pretty).requiredObject("it"), "seed " + seed);
        }
    }

    @Test
    void aDamagedTextIsReadOrRefusedButNeverFailsOtherwise() {
        var seed = System.nanoTime();
        var random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            var bytes = Json.write(JsonObject.of(object(random, 3)));
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            var damaged = random.nextBoolean() ? bytes : Arrays.copyOf(bytes, bytes.length - 1);
            try {
                Json.parse(damaged);
            } catch (Failure e) {
                assertEquals(Code.BAD_REQUEST, e.code(), "seed " + seed);
            }
        }
    }

    private static Map<String, Object> object(Random random, int depth) {
        var members = new java.util.LinkedHashMap<String, Object>();
        for (int i = random.nextInt(5); i > 0; i--) {
            members.put(text(random), value(random, depth - 1));
        }
        return members;
    }

    private static Object value(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 8 : 6)) {
            case 0 -> null;
            case 1 -> random.nextBoolean();
            case 2 -> random.nextLong();
            case 3 -> new BigDecimal(random.nextLong() + ".5");
            case 4 -> text(random);
            case 5 -> (long) random.nextInt(10);
            case 6 -> object(random, depth);
            default -> {
                var items = new java.util.ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    items.add(value(random, depth - 1));
                }
                yield items;
            }
        };
    }

    private static String text(Random random) {
        var text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            int c =
                    switch (random.nextInt(4)) {
                        case 0 -> random.nextInt(0x20);
                        case 1 -> "\"\\/\u2028\u007f<&".charAt(random.nextInt(7));
                        case 2 -> 0x1f600 + random.nextInt(40);
                        default -> 'a' + random.nextInt(26);
                    };
            text.appendCodePoint(c);
        }
        return text.toString();
    }

    private static void assertRefused(byte[] bytes) {
        var failure = assertThrows(Failure.class, () -> Json.parse(bytes));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().length() < 300, failure.getMessage());
    }
}
