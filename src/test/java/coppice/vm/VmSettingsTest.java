package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VmSettingsTest {
    private final AnyVm any = new AnyVm(Seed.random(VmSettingsTest.class));

    @Test
    void aCopyTakesOverEverythingButTheSlugAndTheAutoDelete() {
        for (int n = 0; n < 100; n++) {
            var settings = any.settings();
            var copied = settings.ofCopy();
            assertEquals(Optional.empty(), copied.slug());
            assertEquals(Optional.empty(), copied.timers().autoDelete());
            assertEquals(settings.displayName(), copied.displayName());
            assertEquals(settings.metadata(), copied.metadata());
            assertEquals(settings.automaticRestart(), copied.automaticRestart());
            assertEquals(settings.timers().idle(), copied.timers().idle());
            assertEquals(settings.timers().ttl(), copied.timers().ttl());
            assertEquals(settings.timers().maxRun(), copied.timers().maxRun());
            assertEquals(settings.timers().maxRunTotal(), copied.timers().maxRunTotal());
        }
    }

    @Test
    void whatCannotBePublishedDoesNotExist() {
        for (int port : new int[] {0, 80, 8080}) {
            assertThrows(IllegalArgumentException.class, () -> new Vm.Legacy.Port(port, 3000));
        }
        for (int target : new int[] {0, -1, 65536}) {
            assertThrows(IllegalArgumentException.class, () -> new Vm.Legacy.Port(443, target));
        }
        var port = new Vm.Legacy.Port(443, 3000);
        assertThrows(
                IllegalArgumentException.class,
                () -> new Vm.Legacy(List.of(port, port), "/", Persistence.USUAL));
        assertThrows(
                IllegalArgumentException.class,
                () -> new Vm.Legacy(List.of(), "srv", Persistence.USUAL));
    }
}
