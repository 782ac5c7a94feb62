package coppice.api;

import coppice.json.Schema;

/// A query parameter: a string, an integer of 0 or more, or a boolean, always optional.
public record QueryParameter(String name, Schema type, String description) {
    public QueryParameter {
        switch (type) {
            case Schema.Text _, Schema.Whole _, Schema.Truth _ -> {}
            default -> throw new IllegalArgumentException("a query value is one word: " + name);
        }
    }
}
