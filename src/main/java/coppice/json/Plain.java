package coppice.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.core.JsonGenerator;

/// The plain Java values that stand for JSON: `Map` in order, `List`, `String`, `Long`, `BigDecimal`, `Boolean`, `null`.
final class Plain {
    private Plain() {}

    /// The plain form of a value, its own copy. An empty `Optional` inside a map or list is left out; elsewhere it is `null`.
    static Object of(Object value) {
        return switch (value) {
            case null -> null;
            case String text -> text;
            case Boolean truth -> truth;
            case Long number -> number;
            case Integer number -> number.longValue();
            case Double number -> decimal(number);
            case BigDecimal number -> number;
            case BigInteger number -> whole(number);
            case Instant time -> Times.text(time);
            case UUID id -> id.toString();
            case Optional<?> optional -> of(optional.orElse(null));
            case JsonWriter writer -> new LinkedHashMap<>(writer.members()); // of plain values
            case JsonObject object -> of(object.members());
            case Map<?, ?> map -> map(map);
            case Collection<?> items -> list(items);
            default ->
                    throw new IllegalArgumentException(
                            "%s has no JSON form; convert it first".formatted(value.getClass()));
        };
    }

    private static Object whole(BigInteger number) {
        return number.bitLength() < Long.SIZE
                ? (Object) number.longValue()
                : new BigDecimal(number);
    }

    private static BigDecimal decimal(double number) {
        if (!Double.isFinite(number)) {
            throw new IllegalArgumentException("JSON has no number for " + number);
        }
        return BigDecimal.valueOf(number);
    }

    private static Map<String, Object> map(Map<?, ?> map) {
        var plain = new LinkedHashMap<String, Object>();
        map.forEach(
                (name, value) -> {
                    if (!isAbsent(value)) {
                        plain.put((String) name, of(value));
                    }
                });
        return plain;
    }

    private static List<Object> list(Collection<?> items) {
        var plain = new ArrayList<>(items.size());
        for (var item : items) {
            if (!isAbsent(item)) {
                plain.add(of(item));
            }
        }
        return plain;
    }

    static boolean isAbsent(Object value) {
        return value instanceof Optional<?> optional && optional.isEmpty();
    }

    static void write(JsonGenerator out, Object plain) {
        switch (plain) {
            case null -> out.writeNull();
            case String text -> out.writeString(repaired(text));
            case Boolean truth -> out.writeBoolean(truth);
            case Long number -> out.writeNumber(number);
            case BigDecimal number -> out.writeNumber(number);
            case Map<?, ?> members -> {
                out.writeStartObject();
                members.forEach(
                        (name, value) -> {
                            out.writeName(repaired((String) name));
                            write(out, value);
                        });
                out.writeEndObject();
            }
            case List<?> items -> {
                out.writeStartArray();
                items.forEach(item -> write(out, item));
                out.writeEndArray();
            }
            default -> throw new IllegalArgumentException("not plain: " + plain.getClass());
        }
    }

    static boolean isWellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (!Character.isHighSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    /// What a guest or an old file hands us may hold half a surrogate pair, which UTF-8 cannot carry.
    private static String repaired(String text) {
        if (isWellFormed(text)) {
            return text;
        }
        var whole = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
                .forEach(whole::appendCodePoint);
        return whole.toString();
    }
}
