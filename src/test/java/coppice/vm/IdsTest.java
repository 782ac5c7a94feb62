package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdsTest {
    private static final String TWENTY = "abcdefghijklmnopq789";

    @Test
    void newIdsHaveTheFormAndDiffer() {
        var seen = new HashSet<String>();
        for (int n = 0; n < 1000; n++) {
            assertTrue(VmId.isId(VmId.random().text()));
            assertTrue(SnapshotId.isId(SnapshotId.random().text()));
            assertTrue(seen.add(VmId.random().text()));
            assertTrue(seen.add(SnapshotId.random().text()));
        }
    }

    @Test
    void bothPrefixesOfASnapshotNameTheSameOne() {
        assertEquals(new SnapshotId("sh-" + TWENTY), new SnapshotId("sc-" + TWENTY));
        assertEquals("sh-" + TWENTY, new SnapshotId("sc-" + TWENTY).toString());
    }

    /// An id is also a file name and a process name: nothing else may pass for one.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "vm-",
                "sh-",
                "sh-abcdefghijklmnopq78",
                "vm-abcdefghijklmnopq7890",
                "vm-abcdefghijklmnopq78A",
                "vm-abcdefghijklmnopq78-",
                "sd-abcdefghijklmnopq789",
                "VM-abcdefghijklmnopq789",
                "vm-abcdefghijklmnopq789\n",
                " vm-abcdefghijklmnopq789",
                "vm-../../../../etc/passwd",
                "vm-abcdefghijklmnopq78\u0661",
                "sh-abcdefghijklmno/../.."
            })
    void whatIsNoIdIsRefused(String text) {
        assertFalse(VmId.isId(text));
        assertFalse(SnapshotId.isId(text));
        assertThrows(IllegalArgumentException.class, () -> new VmId(text));
        assertThrows(IllegalArgumentException.class, () -> new SnapshotId(text));
    }

    @Test
    void aVmAndASnapshotAreNotTakenForEachOther() {
        assertFalse(VmId.isId("sh-" + TWENTY));
        assertFalse(SnapshotId.isId("vm-" + TWENTY));
    }
}
