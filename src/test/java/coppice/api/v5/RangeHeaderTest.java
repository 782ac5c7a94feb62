package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Headers;
import coppice.vm.FilePart;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RangeHeaderTest {
    private static FilePart part(String value) {
        return RangeHeader.part(Headers.of("Range", value));
    }

    @Test
    void noHeaderIsTheWholeFile() {
        assertEquals(new FilePart.Whole(), RangeHeader.part(Headers.none()));
    }

    @Test
    void theThreeFormsAreUnderstood() {
        assertEquals(new FilePart.Between(0, 0), part("bytes=0-0"));
        assertEquals(new FilePart.Between(5, 17), part(" Bytes=5-17 "));
        assertEquals(new FilePart.Between(5, Long.MAX_VALUE), part("bytes=5-"));
        assertEquals(new FilePart.Last(3), part("bytes=-3"));
        assertEquals(new FilePart.Last(0), part("bytes=-0"));
    }

    @Test
    void numbersLongerThanAnyFileAreLowered() {
        var huge = "9".repeat(400);
        assertEquals(new FilePart.Between(7, Long.MAX_VALUE), part("bytes=007-" + huge));
        assertEquals(
                new FilePart.Between(Long.MAX_VALUE, Long.MAX_VALUE), part("bytes=" + huge + "-"));
        assertEquals(new FilePart.Last(Long.MAX_VALUE), part("bytes=-" + huge));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "bytes",
                "bytes=",
                "bytes=-",
                "bytes=5",
                "bytes=5-4",
                "bytes=0-1,3-4",
                "bytes=0-1,",
                "items=0-1",
                "bytes=-1-2",
                "bytes=a-b",
                "bytes=0x1-2",
                "bytes=+1-2",
                "bytes=1 - 2",
                "bytes=٣-٤"
            })
    void whatIsNotUnderstoodIsRefused(String value) {
        var failure = assertThrows(Failure.class, () -> part(value));
        assertEquals(Code.BAD_REQUEST, failure.code());
    }

    @Test
    void twoHeadersAreRefused() {
        var headers = Headers.of("Range", "bytes=0-1").and("range", "bytes=0-1");
        assertThrows(Failure.class, () -> RangeHeader.part(headers));
    }

    @Test
    void timesAreWrittenAsHttpHasThem() {
        assertEquals(
                "Sun, 06 Nov 1994 08:49:37 GMT",
                FileRoutes.httpTime(Instant.parse("1994-11-06T08:49:37.9Z")));
    }
}
