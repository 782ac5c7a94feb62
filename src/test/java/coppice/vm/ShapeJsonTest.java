package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.base.Failure;
import coppice.json.Json;
import coppice.qemu.AnyShape;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeJsonTest {
    private static final String WHOLE =
            "{\"cpus\":1,\"maxCpus\":2,\"memory\":1048576,\"addedMemory\":[],\"maxMemory\":1048576}";

    @Test
    void everyShapeIsReadAsItWasWritten() {
        var random = Seed.random(ShapeJsonTest.class);
        for (int n = 0; n < 500; n++) {
            var shape = AnyShape.of(random);
            assertEquals(shape, ShapeJson.read(Json.parse(Json.write(ShapeJson.write(shape)))));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpus", "maxCpus", "memory", "maxMemory"})
    void aShapeThatLacksSomethingIsRefused(String field) {
        ShapeJson.read(Json.parse(WHOLE.getBytes(StandardCharsets.UTF_8)));
        var lacking = WHOLE.replace("\"" + field + "\"", "\"other\"");
        var json = Json.parse(lacking.getBytes(StandardCharsets.UTF_8));
        assertThrows(Failure.class, () -> ShapeJson.read(json));
    }
}
