package coppice.json;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// Tokens to plain Java. Recursion is bounded by the parser's limit on depth.
final class JsonReader {
    private final JsonParser parser;

    JsonReader(JsonParser parser) {
        this.parser = parser;
    }

    /// The object whose opening brace was just read.
    Map<String, Object> object() {
        var members = new LinkedHashMap<String, Object>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            var name = wellFormed(parser.currentName());
            members.put(name, value(parser.nextToken()));
        }
        return members;
    }

    private List<Object> array() {
        var items = new ArrayList<>();
        for (var token = parser.nextToken();
                token != JsonToken.END_ARRAY;
                token = parser.nextToken()) {
            items.add(value(token));
        }
        return items;
    }

    private Object value(JsonToken token) {
        return switch (token) {
            case START_OBJECT -> object();
            case START_ARRAY -> array();
            case VALUE_STRING -> wellFormed(parser.getString());
            case VALUE_NUMBER_INT ->
                    parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                            ? parser.getDecimalValue()
                            : (Object) parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDecimalValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            // The parser itself throws on a cut text, and the remaining tokens are not of JSON.
            case END_OBJECT, END_ARRAY, PROPERTY_NAME, NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT ->
                    throw new IllegalStateException("unexpected token " + token);
        };
    }

    private static String wellFormed(String text) {
        if (!Plain.isWellFormed(text)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the JSON text has a string with half of a surrogate pair; send whole characters");
        }
        return text;
    }
}
