import coppice.base.IpAddress;
import coppice.json.JsonWriter;
import coppice.network.MemberId;
import coppice.network.Party;
import coppice.network.Protocol;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// What the firewall is asked about, as the API is asked and as the model is.
record Question(String json, Party source, Party destination, Optional<Protocol> protocol) {
    private static final int MOST_PORT = 65_535;

    /// Ports of which rules speak, and some more.
    private static final int NEAR_PORTS = 40;

    /// What is known of one end, in both ways.
    private record Side(JsonWriter json, Party party) {}

    /// Half of them are of the form of a rule, of some network; the others between any two: members of networks, VMs, somebody of a network
    /// that is not there, addresses anywhere. Few of those match a rule.
    static Question random(Random random, RuleBook book, List<ServerGuest> vms) {
        return random.nextBoolean() ? likeRule(random, book) : any(random, book, vms);
    }

    private static Question likeRule(Random random, RuleBook book) {
        int number = random.nextInt(RuleBook.RULES_OF_A_VPC);
        int vpc = 1 + random.nextInt(RuleBook.VPCS - 1);
        int port = RuleBook.LEAST_PORT + number;
        var protocol = port % 2 == 0 ? Protocol.TCP : Protocol.UDP;
        var none = Optional.<Integer>empty();
        var source =
                switch (number % 5) {
                    case 1 -> member(random, book, number, none);
                    case 4 -> anywhere(random, none);
                    default -> member(random, book, vpc, none);
                };
        var at = Optional.of(port);
        var destination =
                switch (number % 5) {
                    case 2 -> anywhere(random, at);
                    case 3 -> member(random, book, vpc - 1, at);
                    default -> member(random, book, vpc, at);
                };
        return of(source, destination, Optional.of(protocol));
    }

    private static Question any(Random random, RuleBook book, List<ServerGuest> vms) {
        var protocols = Protocol.values();
        var protocol =
                random.nextBoolean()
                        ? Optional.of(protocols[random.nextInt(protocols.length)])
                        : Optional.<Protocol>empty();
        var port =
                Optional.of(port(random))
                        .filter(_ -> protocol.map(Protocol::hasPorts).orElse(true));
        return of(
                side(random, book, vms, Optional.empty()), side(random, book, vms, port), protocol);
    }

    private static Question of(Side source, Side destination, Optional<Protocol> protocol) {
        var json =
                new JsonWriter()
                        .put("source", source.json())
                        .put("destination", destination.json());
        protocol.ifPresent(p -> json.put("protocol", p.word()));
        return new Question(RuleBook.text(json), source.party(), destination.party(), protocol);
    }

    private static int port(Random random) {
        return random.nextBoolean()
                ? RuleBook.LEAST_PORT + random.nextInt(NEAR_PORTS)
                : 1 + random.nextInt(MOST_PORT);
    }

    private static Side side(
            Random random, RuleBook book, List<ServerGuest> vms, Optional<Integer> port) {
        int vpc = random.nextInt(RuleBook.VPCS);
        return switch (random.nextInt(4)) {
            case 0 -> member(random, book, vpc, port);
            case 1 -> inVpc(VpcId.random().text(), false, inside(random, vpc), port);
            case 2 -> vm(vms.get(random.nextInt(vms.size())), port);
            default -> anywhere(random, port);
        };
    }

    private static Side member(Random random, RuleBook book, int vpc, Optional<Integer> port) {
        return inVpc(book.vpcs().get(vpc), true, inside(random, vpc), port);
    }

    private static String inside(Random random, int vpc) {
        return RuleBook.range(vpc) + (2 + random.nextInt(250));
    }

    /// @param isThere whether there is such a network: the API leaves others out
    private static Side inVpc(String vpc, boolean isThere, String address, Optional<Integer> port) {
        var json =
                new JsonWriter()
                        .put("vpcIds", List.of(vpc))
                        .put("address", address)
                        .put("public", false);
        return side(
                json,
                Optional.empty(),
                isThere ? List.of(new VpcId(vpc)) : List.of(),
                Optional.of(address),
                Optional.of(false),
                port);
    }

    private static Side vm(ServerGuest vm, Optional<Integer> port) {
        return side(
                new JsonWriter().put("vmId", vm.vm()),
                Optional.of(new MemberId(vm.vm())),
                List.of(new VpcId(vm.vpc())),
                Optional.empty(),
                Optional.empty(),
                port);
    }

    private static Side anywhere(Random random, Optional<Integer> port) {
        var address = "194.%d.%d.7".formatted(random.nextInt(200), random.nextInt(200));
        return side(
                new JsonWriter().put("address", address).put("public", true),
                Optional.empty(),
                List.of(),
                Optional.of(address),
                Optional.of(true),
                port);
    }

    private static Side side(
            JsonWriter json,
            Optional<MemberId> vm,
            List<VpcId> vpcs,
            Optional<String> address,
            Optional<Boolean> isPublic,
            Optional<Integer> port) {
        port.ifPresent(p -> json.put("port", p));
        var tunnel = Optional.<TunnelId>empty();
        var at = address.map(IpAddress::stored);
        return new Side(json, new Party(false, vm, vpcs, tunnel, at, isPublic, port));
    }
}
