package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Size;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MachineShapeTest {
    private static final Size SMALL = Size.ofMib(512);

    @Test
    void modulesFollowTheBootMemoryInOrderAndFillTheImage() {
        var random = Seed.random(MachineShapeTest.class);
        for (int n = 0; n < 200; n++) {
            var shape = AnyShape.of(random);
            var end = shape.memory();
            for (int i = 0; i < shape.addedMemory().size(); i++) {
                assertEquals(end, shape.offsetOfModule(i), shape.toString());
                end = end.plus(shape.addedMemory().get(i));
            }
            assertEquals(end, shape.totalMemory(), shape.toString());
            assertTrue(end.compareTo(shape.maxMemory()) <= 0, shape.toString());
        }
    }

    @Test
    void aMachineThatGrowsKeepsWhatItWasBootedWith() {
        var random = Seed.random(MachineShapeTest.class);
        for (int n = 0; n < 200; n++) {
            grow(random);
        }
    }

    private static void grow(Random random) {
        var shape = MachineShape.fresh(random.nextInt(1, 5), 16, SMALL, Size.ofMib(8192));
        var grown = shape;
        for (int i = 0; i < random.nextInt(1, MachineShape.MEMORY_SLOTS); i++) {
            int cpus = random.nextInt(grown.cpus(), grown.maxCpus() + 1);
            var module = Size.ofMib(128L * random.nextInt(1, 4));
            var next = grown.withCpus(cpus).withModule(module);
            assertEquals(cpus, next.cpus());
            assertEquals(grown.totalMemory(), next.offsetOfModule(i));
            assertEquals(grown.totalMemory().plus(module), next.totalMemory());
            grown = next;
        }
        assertEquals(shape.memory(), grown.memory());
        assertEquals(shape.maxCpus(), grown.maxCpus());
        assertEquals(shape.maxMemory(), grown.maxMemory());
    }

    @Test
    void aFreshMachineHasAtLeastRoomForItself() {
        var shape = MachineShape.fresh(4, 2, SMALL, Size.ofMib(256));
        assertEquals(new MachineShape(4, 4, SMALL, List.of(), SMALL, true), shape);
    }

    @Test
    void machinesThatCannotExistAreRefused() {
        assertRefused(() -> new MachineShape(0, 4, SMALL, List.of(), SMALL, true));
        assertRefused(() -> new MachineShape(-1, 4, SMALL, List.of(), SMALL, true));
        assertRefused(() -> new MachineShape(5, 4, SMALL, List.of(), SMALL, true));
        assertRefused(() -> new MachineShape(1, 4, new Size(0), List.of(), SMALL, true));
        assertRefused(() -> new MachineShape(1, 4, SMALL, List.of(), Size.ofMib(511), true));
        assertRefused(() -> new MachineShape(1, 4, SMALL, List.of(SMALL), Size.ofMib(1023), true));
        var many = Collections.nCopies(MachineShape.MEMORY_SLOTS + 1, MachineShape.MEMORY_MODULE);
        assertRefused(() -> new MachineShape(1, 4, SMALL, many, Size.ofMib(99999), true));
    }

    @Test
    void aMachineDoesNotGetMoreProcessorsThanItHas() {
        var shape = MachineShape.fresh(4, 8, SMALL, SMALL);
        assertRefused(() -> shape.withCpus(0));
        assertRefused(() -> shape.withCpus(9));
    }

    private static void assertRefused(org.junit.jupiter.api.function.Executable making) {
        assertThrows(IllegalArgumentException.class, making);
    }
}
