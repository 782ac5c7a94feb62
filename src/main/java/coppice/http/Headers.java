package coppice.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Header fields in order; names are case-insensitive and may repeat.
public record Headers(List<Field> fields) {
    private static final Headers NONE = new Headers(List.of());

    public record Field(String name, String value) {
        public Field {
            if (name.isEmpty() || !isLine(name) || !isLine(value)) {
                throw new IllegalArgumentException("a header field is one line: " + name);
            }
        }

        private static boolean isLine(String text) {
            return text.indexOf('\r') < 0 && text.indexOf('\n') < 0 && text.indexOf('\0') < 0;
        }
    }

    public Headers {
        fields = List.copyOf(fields);
    }

    public static Headers none() {
        return NONE;
    }

    public static Headers of(String name, String value) {
        return NONE.and(name, value);
    }

    public Headers and(String name, String value) {
        var more = new ArrayList<>(fields);
        more.add(new Field(name, value));
        return new Headers(more);
    }

    public Headers and(Headers others) {
        var more = new ArrayList<>(fields);
        more.addAll(others.fields);
        return new Headers(more);
    }

    public Optional<String> first(String name) {
        for (var field : fields) { // every request asks for a dozen names
            if (field.name().equalsIgnoreCase(name)) {
                return Optional.of(field.value());
            }
        }
        return Optional.empty();
    }

    public List<String> all(String name) {
        if (!has(name)) {
            return List.of();
        }
        return fields.stream()
                .filter(field -> field.name().equalsIgnoreCase(name))
                .map(Field::value)
                .toList();
    }

    public boolean has(String name) {
        return first(name).isPresent();
    }

    /// Names only: values may be credentials.
    @Override
    public String toString() {
        return fields.stream().map(Field::name).toList().toString();
    }
}
