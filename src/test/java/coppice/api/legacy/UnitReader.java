package coppice.api.legacy;

import java.util.ArrayList;
import java.util.List;

/// Reads unit files as systemd does, as far as its manual says how: lines that go on, words in quotes, escapes, specifiers, `$$`.
final class UnitReader {
    private final List<String[]> settings = new ArrayList<>();

    UnitReader(String text) {
        var logical = new StringBuilder();
        for (var line : text.split("\n", -1)) {
            boolean isComment = logical.isEmpty() && (line.startsWith("#") || line.startsWith(";"));
            if (isComment) {
                continue;
            }
            int slashes = line.length() - line.replaceAll("\\\\+$", "").length();
            if (slashes % 2 == 1) {
                logical.append(line, 0, line.length() - 1).append(' ');
                continue;
            }
            var whole = logical.append(line).toString().strip();
            logical.setLength(0);
            if (!whole.isEmpty() && !whole.startsWith("[")) {
                int equals = whole.indexOf('=');
                settings.add(
                        new String[] {
                            whole.substring(0, equals).strip(), whole.substring(equals + 1).strip()
                        });
            }
        }
    }

    /// The values of a setting as they stand.
    List<String> raw(String name) {
        return settings.stream().filter(s -> s[0].equals(name)).map(s -> s[1]).toList();
    }

    /// The values of a setting that takes the rest of the line.
    List<String> plain(String name) {
        return raw(name).stream().map(value -> expand(value)).toList();
    }

    /// The words of each of a setting that takes words.
    List<List<String>> words(String name) {
        return raw(name).stream().map(UnitReader::split).toList();
    }

    /// The arguments of each command.
    List<List<String>> commands(String name) {
        return words(name).stream()
                .map(words -> words.stream().map(word -> word.replace("$$", "$")).toList())
                .toList();
    }

    /// Here no specifier but `%%` is meant, so that any other shows as a difference.
    private static String expand(String text) {
        var out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                i++;
                out.append(i < text.length() && text.charAt(i) == '%' ? "%" : "<specifier>");
            } else {
                out.append(text.charAt(i));
            }
        }
        return out.toString();
    }

    private static List<String> split(String value) {
        var words = new ArrayList<String>();
        var word = new StringBuilder();
        char quote = 0;
        boolean isInWord = false;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\\') {
                i++;
                word.append(unescaped(value.charAt(i)));
                isInWord = true;
            } else if (quote != 0) {
                if (c == quote) {
                    quote = 0;
                } else {
                    word.append(c);
                }
            } else if (c == '"' || c == '\'') {
                quote = c;
                isInWord = true;
            } else if (c == ' ' || c == '\t') {
                if (isInWord) {
                    words.add(expand(word.toString()));
                    word.setLength(0);
                    isInWord = false;
                }
            } else {
                word.append(c);
                isInWord = true;
            }
        }
        if (quote != 0) {
            throw new AssertionError("a quote that does not end: " + value);
        }
        if (isInWord) {
            words.add(expand(word.toString()));
        }
        return words;
    }

    private static char unescaped(char c) {
        return switch (c) {
            case '\\', '"', '\'' -> c;
            case 't' -> '\t';
            default -> throw new AssertionError("not written by us: \\" + c);
        };
    }
}
