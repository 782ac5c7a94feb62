package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Compares the procedure with contract/firewall.md read word by word over maps of what is said.
class FirewallTest {
    private static final int ROUNDS = 3_000;
    private static final int CONNECTIONS = 10;
    private static final AccountId ACCOUNT = AccountId.random();
    private static final List<String> VMS = ids("vm-");
    private static final List<String> VPCS = ids("vpc-");
    private static final List<String> TUNNELS = ids("tun-");
    private static final List<Integer> PORTS = List.of(22, 25, 443, 465, 587);
    private static final List<String> PROTOCOLS = List.of("tcp", "udp", "icmp");
    private static final List<String> ADDRESSES =
            List.of("10.0.0.1", "10.0.0.129", "203.0.114.9", "fd00::1", "fd00:0:0:1::1", "2600::1");

    private final Random random = Seed.random(FirewallTest.class);

    private static List<String> ids(String prefix) {
        return IntStream.range(0, 3).mapToObj(i -> prefix + ("" + i).repeat(20)).toList();
    }

    private <T> T any(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    private void maybe(Map<String, Object> said, int oneIn, String field, Object value) {
        if (random.nextInt(oneIn) == 0) {
            said.put(field, value);
        }
    }

    private Map<String, Object> end() {
        var said = new HashMap<String, Object>();
        maybe(said, 4, "vmId", any(VMS));
        maybe(said, 4, "vpcId", any(VPCS));
        maybe(said, 6, "tunnelId", any(TUNNELS));
        maybe(said, 5, "cidr", cidr());
        maybe(said, 5, "public", true);
        maybe(said, 4, "port", any(PORTS));
        maybe(said, 3, "protocol", any(PROTOCOLS));
        return said;
    }

    private String cidr() {
        var address = IpAddress.stored(any(ADDRESSES));
        return Cidr.around(address, random.nextInt(address.bits() + 1)).toString();
    }

    private Map<String, Object> party() {
        var said = new HashMap<String, Object>();
        maybe(said, 20, "platform", true);
        maybe(said, 2, "vmId", any(VMS));
        maybe(said, 2, "vpcIds", random.ints(2, 0, 3).mapToObj(VPCS::get).distinct().toList());
        maybe(said, 4, "tunnelId", any(TUNNELS));
        maybe(said, 2, "address", any(ADDRESSES));
        maybe(said, 2, "public", random.nextBoolean());
        maybe(said, 2, "port", any(PORTS));
        return said;
    }

    private record Said(
            Map<String, Object> source, Map<String, Object> destination, Instant since, RuleId id) {
        Rule rule() {
            return new Rule(
                    id, ACCOUNT, matcher(source), matcher(destination), Optional.empty(), since);
        }
    }

    private static <T> Optional<T> at(
            Map<String, Object> said, String field, Function<String, T> read) {
        return Optional.ofNullable(said.get(field)).map(value -> read.apply(value.toString()));
    }

    private static Matcher matcher(Map<String, Object> said) {
        return new Matcher(
                at(said, "vmId", MemberId::new),
                at(said, "vpcId", VpcId::new),
                at(said, "tunnelId", TunnelId::new),
                at(said, "cidr", Cidr::stored),
                said.containsKey("public"),
                at(said, "port", Integer::valueOf),
                at(said, "protocol", word -> Protocol.of(word).orElseThrow()));
    }

    private static Party party(Map<String, Object> said) {
        var vpcs = (List<?>) said.getOrDefault("vpcIds", List.of());
        return new Party(
                said.containsKey("platform"),
                at(said, "vmId", MemberId::new),
                vpcs.stream().map(id -> new VpcId((String) id)).toList(),
                at(said, "tunnelId", TunnelId::new),
                at(said, "address", IpAddress::stored),
                at(said, "public", Boolean::valueOf),
                at(said, "port", Integer::valueOf));
    }

    /// "A rule matches when every field its two matchers state holds."
    private static boolean matches(
            Map<String, Object> end, Map<String, Object> party, Optional<String> protocol) {
        for (var field : end.entrySet()) {
            var stated = field.getValue();
            boolean holds =
                    switch (field.getKey()) {
                        case "vpcId" ->
                                ((List<?>) party.getOrDefault("vpcIds", List.of()))
                                        .contains(stated);
                        case "cidr" ->
                                party.containsKey("address")
                                        && isIn((String) stated, (String) party.get("address"));
                        case "protocol" -> protocol.isPresent() && protocol.get().equals(stated);
                        default -> stated.equals(party.get(field.getKey()));
                    };
            if (!holds) {
                return false;
            }
        }
        return true;
    }

    private static boolean isIn(String cidr, String address) {
        var parts = cidr.split("/");
        var network = IpAddress.stored(parts[0]).bytes();
        var bytes = IpAddress.stored(address).bytes();
        int host = bytes.length * 8 - Integer.parseInt(parts[1]);
        return network.length == bytes.length
                && new BigInteger(1, network)
                        .shiftRight(host)
                        .equals(new BigInteger(1, bytes).shiftRight(host));
    }

    /// "Decision, first hit wins."
    private static String decision(
            List<Said> rules,
            Map<String, Object> source,
            Map<String, Object> destination,
            Optional<String> protocol) {
        boolean isSource = source.containsKey("platform");
        boolean isDestination = destination.containsKey("platform");
        if (isSource || isDestination) {
            var side = isSource && isDestination ? "both" : isSource ? "source" : "destination";
            return "allowedByPlatform " + side;
        }
        if (Boolean.TRUE.equals(destination.get("public"))
                && List.of(25, 465, 587).contains(destination.getOrDefault("port", 0))
                && List.of("", "tcp").contains(protocol.orElse(""))) {
            return "deniedByPlatform outboundMail";
        }
        return rules.stream()
                .filter(rule -> matches(rule.source, source, protocol))
                .filter(rule -> matches(rule.destination, destination, protocol))
                .min(Comparator.comparing(Said::since).thenComparing(rule -> rule.id.text()))
                .map(rule -> "allowedByRule " + rule.id)
                .orElse("denied");
    }

    private static String told(Verdict verdict) {
        return switch (verdict) {
            case Verdict.AllowedByPlatform(var side) ->
                    "allowedByPlatform " + side.name().toLowerCase(Locale.ROOT);
            case Verdict.AllowedByRule(var rule) -> "allowedByRule " + rule;
            case Verdict.DeniedAsMail _ -> "deniedByPlatform outboundMail";
            case Verdict.Denied _ -> "denied";
        };
    }

    @Test
    void everyConnectionIsDecidedAsTheContractReads() {
        var outcomes = new TreeMap<String, Integer>();
        for (int round = 0; round < ROUNDS; round++) {
            var said = rules();
            var networks = AccountNetworks.NONE.with(said.stream().map(Said::rule).toList());
            Collections.shuffle(said, random);
            for (int i = 0; i < CONNECTIONS; i++) {
                outcomes.merge(requireSame(said, networks.rules()), 1, Integer::sum);
            }
        }
        assertTrue(
                outcomes.size() == 6 && outcomes.values().stream().allMatch(n -> n > 20),
                outcomes::toString);
    }

    private List<Said> rules() {
        return Stream.generate(
                        () ->
                                new Said(
                                        end(),
                                        end(),
                                        Instant.ofEpochMilli(random.nextInt(4)),
                                        RuleId.random()))
                .limit(random.nextInt(12))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /// The outcome of a random connection, without the rule.
    private String requireSame(List<Said> said, List<Rule> rules) {
        var source = party();
        var destination = party();
        var protocol =
                random.nextInt(4) == 0 ? Optional.<String>empty() : Optional.of(any(PROTOCOLS));
        var verdict =
                Firewall.evaluate(
                        rules, party(source), party(destination), protocol.flatMap(Protocol::of));
        var expected = decision(said, source, destination, protocol);
        assertEquals(
                expected,
                told(verdict),
                () -> "%s\n%s -> %s, %s".formatted(said, source, destination, protocol));
        assertEquals(expected.startsWith("allowed"), verdict.isAllowed());
        return expected.replaceAll(" fw-.*", "");
    }

    @Test
    void aFactThatIsNotKnownSatisfiesNothing() {
        var party = new HashMap<String, Object>();
        party.put("address", "203.0.114.9");
        for (var end :
                List.<Map<String, Object>>of(
                        Map.of("vmId", VMS.getFirst()),
                        Map.of("vpcId", VPCS.getFirst()),
                        Map.of("tunnelId", TUNNELS.getFirst()),
                        Map.of("cidr", "::/0"),
                        Map.of("public", true),
                        Map.of("port", 22, "protocol", "tcp"),
                        Map.of("protocol", "tcp"))) {
            var rule = new Said(Map.of(), end, Instant.EPOCH, RuleId.random()).rule();
            assertEquals(
                    new Verdict.Denied(),
                    Firewall.evaluate(List.of(rule), party(party), party(party), Optional.empty()));
        }
    }
}
