package coppice.qemu;

import coppice.base.Size;
import java.util.ArrayList;
import java.util.Random;

/// Any machine that can exist. Public for the tests of other packages.
public final class AnyShape {
    private AnyShape() {}

    public static MachineShape of(Random random) {
        int cpus = random.nextInt(1, 9);
        var memory = Size.ofMib(random.nextInt(1, 9) * 128L);
        var modules = new ArrayList<Size>();
        for (int i = random.nextInt(MachineShape.MEMORY_SLOTS + 1); i > 0; i--) {
            modules.add(Size.ofMib(random.nextInt(1, 5) * 128L));
        }
        var total = modules.stream().reduce(memory, Size::plus);
        return new MachineShape(
                cpus,
                cpus + random.nextInt(9),
                memory,
                modules,
                total.plus(Size.ofMib(random.nextInt(9) * 128L)),
                random.nextBoolean());
    }
}
