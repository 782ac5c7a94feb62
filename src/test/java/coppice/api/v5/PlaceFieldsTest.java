package coppice.api.v5;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.network.GivenNetworks;
import coppice.network.NewMembership;
import coppice.network.NewVpc;
import coppice.network.StaticRoute;
import coppice.network.Vpc;
import coppice.network.Wanted;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What contract/vms.md says of a VM's network: in a create, and in the VM that is shown.
class PlaceFieldsTest {
    private static final AccountId ACCOUNT = AccountId.random();
    private static final Wanted ANY = new Wanted.Any();
    private static final Wanted NONE = new Wanted.None();

    @TempDir private Path directory;
    private GivenNetworks given;
    private Vpc vpc;

    @BeforeEach
    void open() {
        given = new GivenNetworks(directory);
        var wanted =
                new NewVpc(
                        Optional.of(Cidr.stored("10.20.30.0/24")),
                        Optional.of(Cidr.stored("fd00:1::/64")),
                        GivenNetworks.wanted("net").slug(),
                        Optional.empty(),
                        List.of());
        vpc = given.networks().createVpc(ACCOUNT, wanted).vpc();
    }

    @AfterEach
    void close() {
        given.close();
    }

    private Optional<NewMembership> read(String body) {
        return PlaceFields.of(
                json(body),
                new Names(
                        name -> {
                            throw new AssertionError(name);
                        },
                        given.networks().of(ACCOUNT)));
    }

    private static JsonObject json(String text) {
        return Json.parse(text.replace('\'', '"').getBytes(UTF_8));
    }

    private NewMembership place(String more) {
        return read("{'vpcs':[{'vpcId':'net'%s}]}".formatted(more)).orElseThrow();
    }

    private static Wanted exactly(String text) {
        return new Wanted.Exactly(IpAddress.stored(text));
    }

    private void assertRefused(Code code, String at, String body) {
        var failure = assertThrows(Failure.class, () -> read(body));
        assertEquals(code, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().startsWith(at + ": "), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{'vpcs':null}",
                "{'vpcs':[]}",
                "{'networks':[]}",
                "{'vpcs':null,'networks':[]}",
                "{'vpcs':[],'networks':null}"
            })
    void aVmCanBeInNoNetwork(String body) {
        assertEquals(Optional.empty(), read(body));
    }

    @Test
    void aNetworkIsNamedByIdOrSlugUnderItsNewAndOldName() {
        for (var list : List.of("vpcs", "networks")) {
            for (var field : List.of("vpcId", "vpc")) {
                for (var name : List.of("net", vpc.id().text())) {
                    var body = "{'%s':[{'%s':'%s'}]}".formatted(list, field, name);
                    assertEquals(
                            new NewMembership(list + "[0]", vpc.id(), ANY, ANY, List.of()),
                            read(body).orElseThrow());
                }
            }
        }
        var both = "{'vpcs':[{'vpcId':'net','vpc':'net','unknown':7}]}";
        assertEquals(vpc.id(), read(both).orElseThrow().vpc());
    }

    @Test
    void anAddressIsWantedGivenOrNotWanted() {
        assertEquals(ANY, place(",'ipv4':true").ipv4());
        assertEquals(ANY, place(",'ipv4':null").ipv4());
        assertEquals(NONE, place(",'ipv4':false").ipv4());
        assertEquals(ANY, place(",'ipv4':false").ipv6());
        assertEquals(NONE, place(",'ipv6':false").ipv6());
        assertEquals(exactly("10.20.30.9"), place(",'ipv4':'10.20.30.9'").ipv4());
        assertEquals(exactly("fd00:1::9"), place(",'ipv6':'FD00:1:0::9'").ipv6());
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{'vpcs':[],'networks':[]} | networks",
                "{'vpcs':{}} | vpcs",
                "{'networks':'net'} | networks",
                "{'vpcs':['net']} | vpcs[0]",
                "{'vpcs':[{'vpcId':'net'},{'vpcId':'net'}]} | vpcs",
                "{'networks':[{'vpc':'net'},{'vpc':'net'}]} | networks",
                "{'vpcs':[{}]} | vpcs[0].vpcId",
                "{'networks':[{'vpcId':null}]} | networks[0].vpcId",
                "{'vpcs':[{'vpcId':7}]} | vpcs[0].vpcId",
                "{'vpcs':[{'vpcId':'net','vpc':'other'}]} | vpcs[0].vpc",
                "{'vpcs':[{'vpcId':'net','ipv4':7}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv4':''}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv4':'10.20.30'}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv4':'fd00:1::9'}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv6':'10.20.30.9'}]} | vpcs[0].ipv6",
                "{'vpcs':[{'vpcId':'net','ipv6':[]}]} | vpcs[0].ipv6",
                "{'networks':[{'vpc':'net','ipv4':false,'ipv6':false}]} | networks[0].ipv6",
                "{'vpcs':[{'vpcId':'net','routes':{}}]} | vpcs[0].routes",
                "{'vpcs':[{'vpcId':'net','routes':[7]}]} | vpcs[0].routes[0]",
                "{'vpcs':[{'vpcId':'net','ipv4':'10.20.31.1'}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv4':'10.20.30.0'}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv4':'10.20.30.255'}]} | vpcs[0].ipv4",
                "{'vpcs':[{'vpcId':'net','ipv6':'fd00:1::1'}]} | vpcs[0].ipv6",
                "{'vpcs':[{'vpcId':'net','ipv6':'fd00:2::9'}]} | vpcs[0].ipv6"
            })
    void aPlaceThatIsWrongIsRefusedByItsField(String body, String at) {
        assertRefused(Code.BAD_REQUEST, at, body);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{} | cidr",
                "{'cidr':'0.0.0.0/0'} | via",
                "{'via':'10.20.30.1'} | cidr",
                "{'cidr':'10.0.0.1/8','via':'10.20.30.1'} | cidr",
                "{'cidr':'10.0.0.0','via':'10.20.30.1'} | cidr",
                "{'cidr':7,'via':'10.20.30.1'} | cidr",
                "{'cidr':'0.0.0.0/0','via':'nobody'} | via",
                "{'cidr':'0.0.0.0/0','via':'fd00:1::1'} | via",
                "{'cidr':'::/0','via':'10.20.30.1'} | via",
                "{'cidr':'0.0.0.0/0','via':'10.20.31.1'} | via",
                "{'cidr':'::/0','via':'fd00:2::1'} | via",
                "{'cidr':'0.0.0.0/0','via':'10.20.30.1','metric':-1} | metric",
                "{'cidr':'0.0.0.0/0','via':'10.20.30.1','metric':4294967296} | metric",
                "{'cidr':'0.0.0.0/0','via':'10.20.30.1','metric':'1'} | metric",
                "{'cidr':'0.0.0.0/0','via':'10.20.30.1','metric':1.5} | metric"
            })
    void aRouteThatIsWrongIsRefusedByItsField(String route, String field) {
        var fine = "{'cidr':'0.0.0.0/0','via':'10.20.30.1'}";
        assertRefused(
                Code.BAD_REQUEST,
                "vpcs[0].routes[1]." + field,
                "{'vpcs':[{'vpcId':'net','routes':[%s,%s]}]}".formatted(fine, route));
    }

    @Test
    void routesAreToAnyRangeByAnAddressOfTheNetwork() {
        var routes =
                place(
                                ",'routes':[{'cidr':'192.0.2.0/24','via':'10.20.30.254','metric':4294967295},"
                                        + "{'cidr':'::/0','via':'fd00:1::7','metric':0},{'cidr':'::/0','via':'fd00:1::8'}]")
                        .routes();
        assertEquals(
                List.of(
                        route("192.0.2.0/24", "10.20.30.254", StaticRoute.MAX_METRIC),
                        route("::/0", "fd00:1::7", 0),
                        route("::/0", "fd00:1::8", 0)),
                routes);
    }

    private static StaticRoute route(String cidr, String via, long metric) {
        return new StaticRoute(Cidr.stored(cidr), IpAddress.stored(via), metric);
    }

    @Test
    void thereAreAtMost32Routes() {
        var route = "{'cidr':'::/0','via':'fd00:1::7'}";
        Function<Integer, String> routes = n -> String.join(",", Collections.nCopies(n, route));
        assertEquals(32, place(",'routes':[%s]".formatted(routes.apply(32))).routes().size());
        assertRefused(
                Code.BAD_REQUEST,
                "vpcs[0].routes",
                "{'vpcs':[{'vpcId':'net','routes':[%s]}]}".formatted(routes.apply(33)));
    }

    @Test
    void aNetworkThatIsAbsentIsRefusedAfterWhatIsWrong() {
        given.vpc(AccountId.random(), "bobs");
        for (var name : List.of("nothing", "bobs", "vpc-00000000000000000000", "")) {
            assertRefused(
                    Code.NOT_FOUND, "vpcs[0].vpcId", "{'vpcs':[{'vpcId':'%s'}]}".formatted(name));
        }
        assertRefused(Code.NOT_FOUND, "networks[0].vpc", "{'networks':[{'vpc':'nothing'}]}");
        assertRefused(Code.BAD_REQUEST, "vpcs[0].ipv4", "{'vpcs':[{'vpcId':'nothing','ipv4':''}]}");
    }

    private List<JsonObject> shown(String more) {
        var vm = given.join(ACCOUNT, GivenNetworks.member(), Optional.of(place(more))).nic().vm();
        return PlaceJson.write(vm, given.networks().of(ACCOUNT)).stream()
                .map(JsonWriter::toObject)
                .toList();
    }

    /// With the network's id.
    private JsonObject shownAs(String more) {
        var id = vpc.id();
        return json("{'vpc':'%s','vpcId':'%s',%s}".formatted(id, id, more));
    }

    @Test
    void aPlaceIsShownWithItsAddressesAndTheirRanges() {
        assertEquals(
                List.of(
                        shownAs(
                                "'ipv4':'10.20.30.1','cidr':'10.20.30.0/24','ipv6':'fd00:1::2','cidrV6':'fd00:1::/64','routes':[]")),
                shown(""));
        assertEquals(
                List.of(shownAs("'ipv6':'fd00:1::3','cidrV6':'fd00:1::/64','routes':[]")),
                shown(",'ipv4':false"));
        assertEquals(
                List.of(shownAs("'ipv4':'10.20.30.5','cidr':'10.20.30.0/24','routes':[]")),
                shown(",'ipv4':'10.20.30.5','ipv6':false"));
    }

    @Test
    void aRouteIsShownWithItsMetricIfThatIsNotTheUsual() {
        var routes =
                shown(
                                ",'routes':[{'cidr':'0.0.0.0/0','via':'10.20.30.1','metric':0},"
                                        + "{'cidr':'::/0','via':'fd00:1::7','metric':5}]")
                        .getFirst()
                        .requiredObjects("routes");
        assertEquals(
                List.of(
                        json("{'cidr':'0.0.0.0/0','via':'10.20.30.1'}"),
                        json("{'cidr':'::/0','via':'fd00:1::7','metric':5}")),
                routes);
    }

    @Test
    void aVmInNoNetworkShowsNone() {
        var vm = given.join(ACCOUNT, GivenNetworks.member(), Optional.empty()).nic().vm();
        assertEquals(List.of(), PlaceJson.write(vm, given.networks().of(ACCOUNT)));
        assertEquals(
                List.of(), PlaceJson.write(GivenNetworks.member(), given.networks().of(ACCOUNT)));
    }
}
