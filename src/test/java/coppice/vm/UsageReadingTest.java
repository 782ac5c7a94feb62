package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.disk.DiskUse;
import coppice.identity.AccountId;
import coppice.qemu.MemoryUse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class UsageReadingTest {
    private static final AccountId OWNER = AccountId.random();

    private final AnyVm any = new AnyVm(Seed.random(UsageReadingTest.class));

    @Test
    void anAccountsTotalIsTheSumOfWhatItsVmsAndSnapshotsTake() {
        var reading =
                new UsageReading(
                        List.of(
                                vm("ada", Optional.of(memory(1, 10, 100)), Optional.of(disk(3, 4))),
                                vm("bob", Optional.empty(), Optional.of(disk(50, 60))),
                                vm(
                                        "ada",
                                        Optional.of(memory(2, 20, 200)),
                                        Optional.of(disk(5, 6)))),
                        List.of(snapshot("ada", Optional.of(disk(7, 8)))));

        assertTrue(reading.isComplete());
        assertEquals(
                Map.of(
                        "ada",
                        new UsageReading.Total(2, 1, memory(3, 30, 300), disk(15, 18)),
                        "bob",
                        new UsageReading.Total(1, 0, MemoryUse.NONE, disk(50, 60))),
                reading.totals());
    }

    @Test
    void aReadingThatLacksADiskIsNotComplete() {
        var whole = vm("ada", Optional.empty(), Optional.of(disk(1, 1)));
        var cut = vm("ada", Optional.empty(), Optional.empty());
        assertFalse(new UsageReading(List.of(whole, cut), List.of()).isComplete());
        assertFalse(
                new UsageReading(List.of(whole), List.of(snapshot("ada", Optional.empty())))
                        .isComplete());
        assertEquals(
                disk(1, 1),
                new UsageReading(List.of(whole, cut), List.of()).totals().get("ada").disk());
    }

    private UsageReading.OfVm vm(
            String account, Optional<MemoryUse> memory, Optional<DiskUse> disk) {
        return new UsageReading.OfVm(any.of(OWNER), new Slug(account), memory, disk);
    }

    private UsageReading.OfSnapshot snapshot(String account, Optional<DiskUse> disk) {
        return new UsageReading.OfSnapshot(any.snapshot(OWNER), new Slug(account), disk);
    }

    private static MemoryUse memory(long own, long shared, long qemu) {
        return new MemoryUse(Size.ofMib(own), Size.ofMib(shared), Size.ofMib(qemu));
    }

    private static DiskUse disk(long own, long shared) {
        return new DiskUse(Size.ofMib(own), Size.ofMib(shared));
    }
}
