package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.NetworkSettings.Route;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NetworkSettingsTest {
    private static final NetworkSettings SETTINGS =
            new NetworkSettings(
                    "02:00:00:00:0a:ff",
                    1400,
                    List.of("10.20.30.5/24", "fd00:1::5/64"),
                    List.of("192.0.0.1", "fe80::1"),
                    List.of(
                            new Route("192.168.0.0/16", "10.20.30.9", 0),
                            new Route("192.168.0.0/16", "10.20.30.8", 4_294_967_295L)),
                    List.of("10.20.30.1"));

    private static FakeGuest.Ending nothing(byte[] stdin) {
        return FakeGuest.Ending.exit(0, stdin, stdin);
    }

    private static NetworkSettings bare(String deviceAddress, int mtu) {
        return new NetworkSettings(deviceAddress, mtu, List.of(), List.of(), List.of(), List.of());
    }

    @Test
    void theFieldsAreThoseOfTheSpecification() throws ProtocolException {
        var fields = Fields.parse(SETTINGS.fields().toBytes());
        assertEquals("network", fields.text(Tag.OPERATION).orElseThrow());
        assertArrayEquals(
                new byte[] {2, 0, 0, 0, 10, -1}, fields.bytes(Tag.DEVICE_ADDRESS).orElseThrow());
        assertEquals(1400, fields.number(Tag.MTU).orElseThrow());
        assertEquals(SETTINGS.addresses(), fields.texts(Tag.ADDRESS));
        assertEquals(SETTINGS.gateways(), fields.texts(Tag.GATEWAY));
        assertEquals(
                List.of("192.168.0.0/16 10.20.30.9 0", "192.168.0.0/16 10.20.30.8 4294967295"),
                fields.texts(Tag.ROUTE));
        assertEquals(SETTINGS.resolvers(), fields.texts(Tag.RESOLVER));
        assertEquals(
                List.of(80, 81, 82, 83, 84, 85),
                List.of(
                        Tag.DEVICE_ADDRESS.code(),
                        Tag.MTU.code(),
                        Tag.ADDRESS.code(),
                        Tag.GATEWAY.code(),
                        Tag.ROUTE.code(),
                        Tag.RESOLVER.code()));
    }

    @Test
    void theListsAreCopies() {
        var addresses = new ArrayList<>(List.of("10.0.0.1/24"));
        var settings =
                new NetworkSettings(
                        "02:00:00:00:00:05", 1500, addresses, List.of(), List.of(), List.of());
        addresses.clear();
        assertEquals(List.of("10.0.0.1/24"), settings.addresses());
    }

    @Test
    void whatNoInterfaceCanHaveIsRefused() {
        for (var address :
                List.of(
                        "",
                        "02:00:00:00:00",
                        "02:00:00:00:00:0G",
                        "020000000005",
                        "02:00:00:00:00:05:")) {
            assertThrows(IllegalArgumentException.class, () -> bare(address, 1500), address);
        }
        for (int mtu : new int[] {-1, 0, 67, 65536}) {
            assertThrows(IllegalArgumentException.class, () -> bare("02:00:00:00:00:05", mtu));
        }
        assertDoesNotThrow(() -> bare("02:00:00:00:00:05", 68));
        assertDoesNotThrow(() -> bare("02:00:00:00:00:05", 65535));
        for (long metric : new long[] {-1, 1L << 32}) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new Route("10.0.0.0/8", "10.0.0.1", metric));
        }
    }

    @Test
    void theSettingsReachTheAgent() throws Exception {
        try (var vm = FakeGuest.running(NetworkSettingsTest::nothing)) {
            Given.connect(vm.plug()).setNetwork(SETTINGS, Given.soon());
            assertEquals(
                    "network 02:00:00:00:0a:ff mtu 1400"
                            + " addresses [10.20.30.5/24, fd00:1::5/64] gateways [192.0.0.1, fe80::1]"
                            + " routes [192.168.0.0/16 10.20.30.9 0, 192.168.0.0/16 10.20.30.8 4294967295]"
                            + " resolvers [10.20.30.1]",
                    vm.done().getLast());
        }
    }

    @Test
    void anAgentThatDoesNotKnowNetworksIsUnsupported() throws Exception {
        try (var vm = FakeGuest.running(NetworkSettingsTest::nothing).without("network")) {
            var guest = Given.connect(vm.plug());
            var failure =
                    assertThrows(Failure.class, () -> guest.setNetwork(SETTINGS, Given.soon()));
            assertEquals(Code.AGENT_UNSUPPORTED, failure.code());
            assertTrue(guest.isOpen());
        }
    }

    @Test
    void whatTheGuestRefusesIsTyped() throws Exception {
        assertEquals(Code.BAD_REQUEST, refusing("BAD_REQUEST", "the route is none").code());
        var refused = refusing("FAILED", "no interface");
        assertEquals(Code.UNAVAILABLE, refused.code());
        assertTrue(refused.getMessage().contains("no interface"), refused.getMessage());
    }

    private static Failure refusing(String code, String message) throws Exception {
        try (var vm = FakeGuest.running(NetworkSettingsTest::nothing)) {
            var guest =
                    Given.connect(
                            vm.scripted(
                                    wire -> {
                                        wire.welcome();
                                        var asked = wire.next(FrameKind.OPEN);
                                        var why =
                                                new FieldsWriter()
                                                        .text(Tag.CODE, code)
                                                        .text(Tag.MESSAGE, message);
                                        wire.send(
                                                Frame.fields(
                                                        FrameKind.RESET,
                                                        asked.stream(),
                                                        why.toBytes()));
                                        wire.next();
                                    }));
            var failure =
                    assertThrows(Failure.class, () -> guest.setNetwork(SETTINGS, Given.soon()));
            assertTrue(guest.isOpen());
            return failure;
        }
    }
}
