package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NewVpcTest {

    private static NewVpc of(Optional<String> cidr, Optional<String> cidrV6) {
        return new NewVpc(
                cidr.map(Cidr::stored),
                cidrV6.map(Cidr::stored),
                Optional.empty(),
                Optional.empty(),
                List.of());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.0/15",
                "10.0.0.0/29",
                "11.0.0.0/16",
                "172.32.0.0/16",
                "192.169.0.0/16",
                "100.64.0.0/16",
                "0.0.0.0/0",
                "fd00::/64"
            })
    void noOtherRangeOfIpv4IsANetworks(String cidr) {
        assertRefused("cidr: ", Optional.of(cidr), Optional.empty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fd00::/63",
                "fd00::/65",
                "fdff::/64",
                "fdff:0:0:ffff::/64",
                "fe00::/64",
                "2001:db8::/64",
                "10.0.0.0/24"
            })
    void noOtherRangeOfIpv6IsANetworks(String cidr) {
        assertRefused("cidrV6: ", Optional.empty(), Optional.of(cidr));
    }

    private static void assertRefused(
            String field, Optional<String> cidr, Optional<String> cidrV6) {
        var failure = assertThrows(Failure.class, () -> of(cidr, cidrV6));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().startsWith(field), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"fc00::/64", "fd00:1:2:3::/64", "fdff:0:1::/64", "fdfe:ffff::/64"})
    void anyOtherUniqueLocalRangeOf64BitsIs(String cidr) {
        assertEquals(
                cidr, of(Optional.empty(), Optional.of(cidr)).cidrV6().orElseThrow().toString());
    }
}
