package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.json.Json;
import coppice.json.Schema;
import coppice.network.Attachment;
import coppice.network.Endpoint;
import coppice.network.PublicKey;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TunnelJsonTest {
    private static final String KEY = "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0=";
    private static final String SERVER_KEY = "5lD0tYz0x1kY8m3mJqQ2bq3r0cJ8v5tq0mJ1m2s3t4U=";

    /// The example of contract/tunnels.md.
    private static final String EXAMPLE =
            """
            {
              "id": "tun-2z4x6c8v0b2n4m6q8w0e", "tunnelId": "tun-2z4x6c8v0b2n4m6q8w0e", "slug": "office",
              "clientConfig": "[Interface]\\nPrivateKey = \\nAddress = 100.64.0.7/32, fdff::7/128\\n\\n[Peer]\\nPublicKey = \
            5lD0tYz0x1kY8m3mJqQ2bq3r0cJ8v5tq0mJ1m2s3t4U=\\nAllowedIPs = 10.0.0.0/8, fd00::/8\\nEndpoint = \
            tunnel.example.test:51820\\nPersistentKeepalive = 25\\n",
              "endpointHost": "tunnel.example.test", "endpointPort": 51820,
              "clientPublicKey": "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0=",
              "serverPublicKey": "5lD0tYz0x1kY8m3mJqQ2bq3r0cJ8v5tq0mJ1m2s3t4U=",
              "clientAddressV4": "100.64.0.7", "clientAddressV6": "fdff::7", "routes": ["10.0.0.0/8", "fd00::/8"],
              "attachments": [{"vpcId": "vpc-5s7d9f1g3h5j7k9l1z3x", "ipv4": "10.20.30.9", "ipv6": "fd3a:91c2:7b04:1::9",
                "address": "10.20.30.9", "secondaryAddress": "fd3a:91c2:7b04:1::9", "vpcCidr": "10.20.30.0/24",
                "allowedIps": ["10.20.30.0/24", "fd3a:91c2:7b04:1::/64"], "createdAt": "2026-03-01T09:31:00.000Z"}],
              "createdAt": "2026-03-01T09:30:00.000Z", "updatedAt": "2026-03-01T09:31:00.000Z"
            }
            """;

    private static final Endpoint ENDPOINT =
            new Endpoint(Optional.of("tunnel.example.test"), 51_820, new PublicKey(SERVER_KEY));

    @Test
    void aTunnelIsShownAsInTheContract() {
        assertEquals(
                Json.parse(EXAMPLE.getBytes(StandardCharsets.UTF_8)),
                TunnelJson.write(tunnel(), ENDPOINT).toObject());
    }

    private static Tunnel tunnel() {
        var made = Instant.parse("2026-03-01T09:30:00Z");
        var attached = made.plusSeconds(60);
        var place =
                new Attachment(
                        new VpcId("vpc-5s7d9f1g3h5j7k9l1z3x"),
                        Cidr.stored("10.20.30.0/24"),
                        Cidr.stored("fd3a:91c2:7b04:1::/64"),
                        Optional.of(IpAddress.stored("10.20.30.9")),
                        Optional.of(IpAddress.stored("fd3a:91c2:7b04:1::9")),
                        List.of(),
                        false,
                        attached);
        return new Tunnel(
                new TunnelId("tun-2z4x6c8v0b2n4m6q8w0e"),
                AccountId.random(),
                6,
                Optional.of(new Slug("office")),
                Optional.empty(),
                new PublicKey(KEY),
                Stream.of("10.0.0.0/8", "fd00::/8").map(Cidr::stored).toList(),
                List.of(place),
                made,
                attached);
    }

    @Test
    void aWholeTunnelHasTheFieldsOfTheDescriptionInTheirOrder() {
        var tunnel = tunnel().with(Optional.of(new Slug("office")), Optional.of("Office"));
        assertEquals(
                TunnelSchemas.TUNNEL.fields().stream().map(Schema.Field::name).toList(),
                List.copyOf(TunnelJson.write(tunnel, ENDPOINT).toObject().fields()));
    }
}
