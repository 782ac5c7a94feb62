package coppice.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.metrics.Exposition.Sample;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExpositionTest {
    private final Exposition text = new Exposition();

    @Test
    void aFamilyHasItsHelpItsTypeAndItsSamples() {
        text.gauge(
                        "coppice_vms",
                        "VMs by their state.",
                        List.of(
                                new Sample(Map.of("state", "running"), 2),
                                new Sample(Map.of("state", "paused"), 0)))
                .gauge("coppice_up", "Whether.", List.of(Sample.of(1)));
        assertEquals(
                """
                # HELP coppice_vms VMs by their state.
                # TYPE coppice_vms gauge
                coppice_vms{state="running"} 2
                coppice_vms{state="paused"} 0
                # HELP coppice_up Whether.
                # TYPE coppice_up gauge
                coppice_up 1
                """,
                text.toString());
    }

    @Test
    void labelsStandInTheOrderOfTheirNamesAndCannotBreakOut() {
        text.gauge(
                "m",
                "a\\b\nc \"d\"",
                List.of(new Sample(Map.of("b", "x\"} 1\ny", "a", "back\\slash"), 1)));
        assertEquals(
                """
                # HELP m a\\\\b\\nc "d"
                # TYPE m gauge
                m{a="back\\\\slash",b="x\\"} 1\\ny"} 1
                """,
                text.toString());
    }

    @Test
    void numbersAreWrittenInFull() {
        text.gauge(
                "m",
                "h",
                List.of(
                        Sample.of(1L << 43),
                        Sample.of(0.25),
                        Sample.of(1e-7),
                        Sample.of(0),
                        Sample.of(-3)));
        assertEquals(
                List.of("m 8796093022208", "m 0.25", "m 0.0000001", "m 0", "m -3"),
                text.toString().lines().skip(2).toList());
    }

    @Test
    void aFamilyWithoutSamplesIsLeftOut() {
        assertEquals("", text.gauge("m", "h", List.of()).toString());
    }

    @Test
    void aNameThatIsNoneIsRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> text.gauge("a-b", "h", List.of(Sample.of(1))));
        assertThrows(IllegalArgumentException.class, () -> new Sample(Map.of("a b", "c"), 1));
    }
}
