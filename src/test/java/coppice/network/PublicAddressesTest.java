package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.IpAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressesTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.255.255",
                "223.255.255.255",
                "2000::",
                "2001:200::1",
                "2001:4:112::1",
                "2600::1",
                "3ffe::1",
                "3fff:1000::1"
            })
    void theInternetIsPublic(String address) {
        assertEquals(true, PublicAddresses.contains(IpAddress.stored(address)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "10.0.0.0",
                "10.255.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "127.0.0.1",
                "169.254.169.254",
                "172.16.0.0",
                "172.31.255.255",
                "192.0.2.1",
                "192.168.0.1",
                "198.19.255.255",
                "203.0.113.9",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::ffff:1.1.1.1",
                "64:ff9b::1.1.1.1",
                "fc00::1",
                "fd00::1",
                "fe80::1",
                "ff02::1",
                "2001::1",
                "2001:db8::1",
                "2002::1",
                "3fff::1",
                "5f00::1"
            })
    void whatIsPrivateReservedOrMulticastIsNot(String address) {
        assertEquals(false, PublicAddresses.contains(IpAddress.stored(address)));
    }
}
