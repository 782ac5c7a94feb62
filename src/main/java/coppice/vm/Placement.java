package coppice.vm;

import coppice.json.Json;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Which VMs a VM must not share a host with: those of its account whose metadata has every label of one of the rules.
///
/// @param antiAffinity the labels of each rule; none: it goes anywhere
public record Placement(List<Map<String, String>> antiAffinity) {
    public static final Placement ANYWHERE = new Placement(List.of());

    public Placement {
        antiAffinity = antiAffinity.stream().map(Map::copyOf).toList();
    }

    boolean forbids(Map<String, String> metadata) {
        return antiAffinity.stream()
                .anyMatch(labels -> metadata.entrySet().containsAll(labels.entrySet()));
    }

    Optional<String> stored() {
        return antiAffinity.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new String(
                                Json.write(
                                        new JsonWriter()
                                                .put(
                                                        "antiAffinity",
                                                        antiAffinity.stream()
                                                                .map(
                                                                        labels ->
                                                                                new JsonWriter()
                                                                                        .put(
                                                                                                "matchLabels",
                                                                                                labels))
                                                                .toList())),
                                StandardCharsets.UTF_8));
    }

    static Placement fromStored(Optional<String> text) {
        return text.map(json -> Json.parse(json.getBytes(StandardCharsets.UTF_8)))
                .map(
                        json ->
                                new Placement(
                                        json.requiredObjects("antiAffinity").stream()
                                                .map(
                                                        rule ->
                                                                rule.stringMap("matchLabels")
                                                                        .orElseThrow())
                                                .toList()))
                .orElse(ANYWHERE);
    }
}
