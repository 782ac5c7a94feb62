package coppice.metrics;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// A text in Prometheus's exposition format, version 0.0.4: families of gauges and counters, each with its samples.
final class Exposition {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String NAME = "[a-zA-Z_][a-zA-Z0-9_]*";

    private final StringBuilder text = new StringBuilder();

    /// One number, and the labels that tell it from the others of its family.
    record Sample(Map<String, String> labels, double value) {
        Sample {
            labels.keySet().forEach(Exposition::requireName);
        }

        static Sample of(double value) {
            return new Sample(Map.of(), value);
        }
    }

    /// Adds a family of what goes up and down. One without samples is left out.
    Exposition gauge(String name, String help, List<Sample> samples) {
        return family(name, "gauge", help, samples);
    }

    /// Adds a family of what only grows, but for new beginnings. One without samples is left out.
    Exposition counter(String name, String help, List<Sample> samples) {
        return family(name, "counter", help, samples);
    }

    private Exposition family(String name, String type, String help, List<Sample> samples) {
        requireName(name);
        if (!samples.isEmpty()) {
            text.append("# HELP %s %s\n".formatted(name, escaped(help)));
            text.append("# TYPE %s %s\n".formatted(name, type));
            samples.forEach(sample -> add(name, sample));
        }
        return this;
    }

    private void add(String name, Sample sample) {
        text.append(name);
        if (!sample.labels().isEmpty()) {
            text.append(
                    sample.labels().entrySet().stream()
                            .sorted(Map.Entry.comparingByKey())
                            .map(label -> label.getKey() + "=" + quoted(label.getValue()))
                            .collect(Collectors.joining(",", "{", "}")));
        }
        text.append(' ').append(number(sample.value())).append('\n');
    }

    /// Whole numbers without a point, whatever their size.
    private static String number(double value) {
        return new BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString();
    }

    private static String quoted(String value) {
        return "\"" + escaped(value).replace("\"", "\\\"") + "\"";
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n");
    }

    private static void requireName(String name) {
        if (!name.matches(NAME)) {
            throw new IllegalArgumentException("no name of a metric or label: " + name);
        }
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
