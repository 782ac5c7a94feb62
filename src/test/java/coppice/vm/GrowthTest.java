package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.qemu.AnyShape;
import coppice.qemu.MachineShape;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GrowthTest {
    private static final int ROUNDS = 2000;
    private final Random random = Seed.random(GrowthTest.class);
    private final AnyVm any = new AnyVm(random);

    @Test
    void noAxisEverShrinksNorPassesItsCeiling() {
        int allowed = 0;
        for (int n = 0; n < ROUNDS; n++) {
            var now = any.resources();
            var growth = around(now);
            if (isAllowed(growth, now)) {
                allowed++;
                var after = growth.applyTo(now);
                assertEquals(growth.cpu().orElse(now.cpu()), after.cpu());
                assertEquals(growth.memory().orElse(now.memory()), after.memory());
                assertEquals(growth.storage().orElse(now.storage()), after.storage());
            } else {
                var failure = assertThrows(Failure.class, () -> growth.applyTo(now));
                assertEquals(Code.BAD_REQUEST, failure.code(), growth + " of " + now);
            }
        }
        assertTrue(allowed > 100 && allowed < ROUNDS - 100, allowed + " were allowed");
    }

    private static boolean isAllowed(Growth growth, Resources now) {
        return Stream.of(growth.cpu(), growth.memory(), growth.storage())
                        .anyMatch(Optional::isPresent)
                && isAllowed(growth.cpu(), now.cpu(), Growth.MAX_CPU)
                && isAllowed(growth.memory(), now.memory(), Growth.MAX_MEMORY)
                && isAllowed(growth.storage(), now.storage(), Growth.MAX_STORAGE);
    }

    private static <T extends Comparable<T>> boolean isAllowed(
            Optional<T> wanted, T now, T ceiling) {
        return wanted.isEmpty()
                || wanted.get().equals(now)
                || wanted.get().compareTo(now) > 0 && wanted.get().compareTo(ceiling) <= 0;
    }

    private Growth around(Resources now) {
        return new Growth(
                random.nextInt(3) == 0
                        ? Optional.empty()
                        : Optional.of(now.cpu() + random.nextInt(-1, 30)),
                random.nextInt(3) == 0
                        ? Optional.empty()
                        : Optional.of(near(now.memory(), Growth.MAX_MEMORY)),
                random.nextInt(3) == 0
                        ? Optional.empty()
                        : Optional.of(near(now.storage(), Growth.MAX_STORAGE)));
    }

    private Size near(Size now, Size ceiling) {
        return switch (random.nextInt(5)) {
            case 0 -> Size.ofMib(now.mib() - 1);
            case 1 -> now;
            case 2 -> ceiling;
            case 3 -> ceiling.plus(new Size(1));
            default -> Size.ofMib(now.mib() + random.nextLong(10_000));
        };
    }

    @Test
    void aRefusalNamesTheFieldAndTheValue() {
        var now = new Resources(4, Size.ofMib(512), Size.ofMib(1024));
        assertMessage("cpu: can only grow, and is 4 now", now, Optional.of(3), Optional.empty());
        assertMessage("cpu: can be at most 64", now, Optional.of(65), Optional.empty());
        assertMessage(
                "memory: can only grow, and is 512 MiB now",
                now,
                Optional.empty(),
                Optional.of(Size.ofMib(511)));
    }

    private static void assertMessage(
            String message, Resources now, Optional<Integer> cpu, Optional<Size> memory) {
        var growth = new Growth(cpu, memory, Optional.empty());
        assertEquals(message, assertThrows(Failure.class, () -> growth.applyTo(now)).getMessage());
    }

    @Test
    void aModuleIsTheLeastNumberOfWholeSectionsThatIsEnough() {
        long section = MachineShape.MEMORY_MODULE.bytes();
        for (int n = 0; n < ROUNDS; n++) {
            var shape = AnyShape.of(random);
            long have = shape.totalMemory().bytes();
            var wanted = new Size(Math.max(0, have + random.nextLong(-section, 4 * section)));
            var module = Growth.missingModule(shape, wanted);
            if (wanted.bytes() <= have) {
                assertEquals(Optional.empty(), module);
            } else {
                long bytes = module.orElseThrow().bytes();
                assertEquals(0, bytes % section);
                assertTrue(have + bytes >= wanted.bytes(), shape + " to " + wanted);
                assertTrue(have + bytes - section < wanted.bytes(), shape + " to " + wanted);
            }
        }
    }

    /// What is let through can be built; what is refused could not.
    @Test
    void thereIsRoomExactlyForMachinesThatCanExist() {
        int room = 0;
        for (int n = 0; n < ROUNDS; n++) {
            var shape = AnyShape.of(random);
            var wanted =
                    new Resources(
                            shape.cpus() + random.nextInt(9),
                            Size.ofMib(shape.totalMemory().mib() + random.nextLong(1500)),
                            Size.ofMib(1));
            if (canExist(shape, wanted)) {
                room++;
                assertDoesNotThrow(() -> Growth.requireRoom(shape, wanted));
            } else {
                var failure =
                        assertThrows(
                                Failure.class,
                                () -> Growth.requireRoom(shape, wanted),
                                shape + " to " + wanted);
                assertEquals(Code.CONFLICT, failure.code());
            }
        }
        assertTrue(room > 50 && room < ROUNDS - 50, room + " had room");
    }

    private static boolean canExist(MachineShape shape, Resources wanted) {
        try {
            var grown = shape.withCpus(wanted.cpu());
            Growth.missingModule(shape, wanted.memory()).ifPresent(grown::withModule);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
