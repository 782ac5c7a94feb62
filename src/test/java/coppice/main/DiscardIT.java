package coppice.main;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/// What a guest deletes, the host gets back, without anybody doing anything for it.
class DiscardIT {

    @Test
    void filesThatABusyboxGuestDeletesGiveTheirBlocksBack() {
        try (var installation = Installation.start()) {
            var client = installation.client("main");
            givesBack(installation, client, client.createVm());
        }
    }

    @Test
    void filesThatADebianGuestDeletesGiveTheirBlocksBack() {
        try (var installation =
                Installation.start(
                        Map.of("COPPICE_IMAGES", "debian", "COPPICE_IMAGE_DEFAULT", "debian"))) {
            var client = installation.client("main");
            givesBack(installation, client, client.createVm());
        }
    }

    private static void givesBack(Installation installation, Client client, String vm) {
        var before = Used.of(installation, vm);
        client.run(vm, "head -c 100m /dev/urandom > /root/large; sync");
        var written = Used.await(installation, vm, used -> used.diskOwn() > before.diskOwn() + 99);

        client.run(vm, "rm /root/large");

        var after = Used.await(installation, vm, used -> used.diskOwn() < written.diskOwn() - 95);
        assertTrue(
                after.diskOwn() < before.diskOwn() + 20,
                () -> "%s, %s, %s".formatted(before, written, after));
    }
}
