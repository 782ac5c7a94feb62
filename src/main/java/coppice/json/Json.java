package coppice.json;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.PrettyPrinter;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.DefaultIndenter;
import tools.jackson.core.util.DefaultPrettyPrinter;

/// Bytes to JSON objects and back.
///
/// Reading is strict: UTF-8 only, no duplicate keys, no comments, nothing after the value, no unpaired surrogates, bounded
/// depth and lengths. Whatever is wrong is a [Failure] with [Code#BAD_REQUEST]. The size of the input is bounded by the caller.
public final class Json {
    static final int MAX_DEPTH = 64;
    private static final int MAX_NAME_LENGTH = 1 << 16;
    private static final int MAX_STRING_LENGTH = 64 << 20;
    private static final int MAX_NUMBER_LENGTH = 100;
    private static final int MAX_VALUES = 250_000;

    private static final JsonFactory FACTORY =
            JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .streamReadConstraints(
                            StreamReadConstraints.builder()
                                    .maxNestingDepth(MAX_DEPTH)
                                    .maxNameLength(MAX_NAME_LENGTH)
                                    .maxStringLength(MAX_STRING_LENGTH)
                                    .maxNumberLength(MAX_NUMBER_LENGTH)
                                    .maxTokenCount(MAX_VALUES)
                                    .build())
                    .build();

    private Json() {}

    /// Reads one JSON object. An empty input is refused: whether it equals `{}` is for the caller to know.
    public static JsonObject parse(byte[] utf8) {
        // A decoder of our own, because Jackson would guess UTF-16 and UTF-32 and accept overlong
        // UTF-8.
        var text =
                new InputStreamReader(
                        new ByteArrayInputStream(utf8), StandardCharsets.UTF_8.newDecoder());
        try (var parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new Failure(Code.BAD_REQUEST, "the JSON text must be an object; send {...}");
            }
            var members = new JsonReader(parser).object();
            if (parser.nextToken() != null) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "the JSON text has something after its end; send one object only");
            }
            return JsonObject.of(members);
        } catch (StreamConstraintsException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the JSON text is nested too deeply (limit %d) or has too many or too long values; send less"
                            .formatted(MAX_DEPTH),
                    e);
        } catch (JacksonException e) {
            throw invalid(e);
        } catch (NumberFormatException e) {
            // An exponent beyond what a BigDecimal holds comes through as it is.
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the JSON text has a number out of range; send a smaller one",
                    e);
        }
    }

    /// One line without spaces, in UTF-8.
    public static byte[] write(JsonWriter object) {
        return write(object.members(), ObjectWriteContext.empty());
    }

    public static byte[] write(JsonObject object) {
        return write(object.members(), ObjectWriteContext.empty());
    }

    /// Any value that [JsonWriter#put] takes, for the answers that are arrays.
    public static byte[] writeValue(Object value) {
        return write(Plain.of(value), ObjectWriteContext.empty());
    }

    /// Indented by two spaces, each member on its line, with a newline at the end: for files that people read.
    public static byte[] pretty(JsonWriter object) {
        return write(object.members(), new Indented());
    }

    private static byte[] write(Object plain, ObjectWriteContext context) {
        var bytes = new ByteArrayOutputStream(256);
        try (var generator = FACTORY.createGenerator(context, bytes)) {
            Plain.write(generator, plain);
        }
        if (context instanceof Indented) {
            bytes.write('\n');
        }
        return bytes.toByteArray();
    }

    private static Failure invalid(JacksonException e) {
        var where = e.getLocation();
        // Jackson's own words quote the input, which may hold secrets: only the place is told.
        var place =
                where == null || where.getLineNr() < 1
                        ? ""
                        : " near line %d, column %d"
                                .formatted(where.getLineNr(), where.getColumnNr());
        return new Failure(
                Code.BAD_REQUEST,
                "the text is not valid JSON in UTF-8%s; see RFC 8259 (names must not repeat)"
                        .formatted(place),
                e);
    }

    private static final class Indented extends ObjectWriteContext.Base {
        @Override
        public PrettyPrinter getPrettyPrinter() {
            var indenter = new DefaultIndenter("  ", "\n");
            return new DefaultPrettyPrinter()
                    .withArrayIndenter(indenter)
                    .withObjectIndenter(indenter);
        }

        @Override
        public boolean hasPrettyPrinter() {
            return true;
        }
    }
}
