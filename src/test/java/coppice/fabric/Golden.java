package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.AccountNetworks;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Nic;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.RuleId;
import coppice.network.TunnelId;
import coppice.network.Vpc;
import coppice.network.VpcId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/// A file of `src/test/resources/coppice/fabric`: what an account has and where one looks at it from, `---`, and the text that is made of
/// it.
///
///     network NAME RANGE RANGE
///     vm NAME SLOT                              or with "in NETWORK ADDRESS..."
///     rule WORDS -> WORDS                       vm:NAME network:NAME tunnel:NAME RANGE public tcp port:NUMBER
///     here NAME                                 of a network, or of a VM that is alone
///     prefix RANGE                              of public addresses; none if this is left out
record Golden(String name, List<String> input, String expected) {
    private static final AccountId ACCOUNT = new AccountId(new UUID(0, 1));
    private static final String BORDER = "---\n";
    private static final String ANCHOR = "rules-members.golden";
    private static final int ID = 20;

    static List<Golden> all(String prefix) throws IOException, URISyntaxException {
        var directory = Path.of(Golden.class.getResource(ANCHOR).toURI()).getParent();
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .sorted()
                    .map(Golden::read)
                    .toList();
        }
    }

    private static Golden read(Path file) {
        try {
            var text = Files.readString(file);
            int border = text.indexOf(BORDER);
            return new Golden(
                    file.getFileName().toString(),
                    text.substring(0, border).lines().toList(),
                    text.substring(border + BORDER.length()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Stream<List<String>> lines(String kind) {
        return input.stream()
                .map(line -> List.of(line.split(" ")))
                .filter(words -> words.getFirst().equals(kind))
                .map(words -> words.subList(1, words.size()));
    }

    FabricSettings settings() {
        return new FabricSettings(
                "test",
                Cidr.stored("100.96.0.0/16"),
                lines("prefix").map(words -> Cidr.stored(words.getFirst())).findFirst(),
                1500,
                8192,
                Optional.empty());
    }

    AccountNetworks networks() {
        var vpcs = new LinkedHashMap<VpcId, Vpc>();
        lines("network").map(Golden::vpc).forEach(vpc -> vpcs.put(vpc.id(), vpc));
        var nics = new LinkedHashMap<MemberId, Nic>();
        lines("vm").map(this::nic).forEach(nic -> nics.put(nic.vm(), nic));
        var rules = new ArrayList<Rule>();
        lines("rule").forEach(words -> rules.add(rule(words, rules.size())));
        return new AccountNetworks(vpcs, nics, Map.of(), rules);
    }

    private static Vpc vpc(List<String> words) {
        return new Vpc(
                network(words.get(0)),
                ACCOUNT,
                Cidr.stored(words.get(1)),
                Cidr.stored(words.get(2)),
                Optional.empty(),
                Optional.empty(),
                Instant.EPOCH);
    }

    private Nic nic(List<String> words) {
        int slot = Integer.parseInt(words.get(1));
        return new Nic(
                vm(words.get(0)),
                ACCOUNT,
                slot,
                settings().ipv6().map(range -> range.first().plus(slot)),
                words.size() > 2 ? Optional.of(membership(words)) : Optional.empty());
    }

    private static Membership membership(List<String> words) {
        var addresses = words.subList(4, words.size()).stream().map(IpAddress::stored).toList();
        return new Membership(
                network(words.get(3)),
                addresses.stream().filter(address -> !address.isV6()).findFirst(),
                addresses.stream().filter(IpAddress::isV6).findFirst(),
                List.of());
    }

    private static Rule rule(List<String> words, int number) {
        int arrow = words.indexOf("->");
        return new Rule(
                new RuleId("fw-%020d".formatted(number)),
                ACCOUNT,
                end(words.subList(0, arrow)),
                end(words.subList(arrow + 1, words.size())),
                Optional.empty(),
                Instant.EPOCH.plusSeconds(number));
    }

    private static Matcher end(List<String> words) {
        return new Matcher(
                said(words, "vm:").map(Golden::vm),
                said(words, "network:").map(Golden::network),
                said(words, "tunnel:").map(name -> new TunnelId(id("tun-", name))),
                words.stream().filter(word -> word.contains("/")).map(Cidr::stored).findFirst(),
                words.contains("public"),
                said(words, "port:").map(Integer::valueOf),
                words.stream().flatMap(word -> Protocol.of(word).stream()).findFirst());
    }

    private static Optional<String> said(List<String> words, String what) {
        return words.stream()
                .filter(word -> word.startsWith(what))
                .map(word -> word.substring(what.length()))
                .findFirst();
    }

    private static MemberId vm(String name) {
        return new MemberId(id("vm-", name));
    }

    private static VpcId network(String name) {
        return new VpcId(id("vpc-", name));
    }

    private static String id(String prefix, String name) {
        return prefix + name + "0".repeat(ID - name.length());
    }

    Place here() {
        var name = lines("here").findFirst().orElseThrow().getFirst();
        var networks = networks();
        return networks.vpcs().containsKey(network(name))
                ? new Place.InVpc(network(name))
                : new Place.Alone(vm(name));
    }

    /// Of all the VMs that are there.
    List<Tap> taps() {
        return here().nics(networks()).map(nic -> new Tap(nic, new Holder.User(0))).toList();
    }

    @Override
    public String toString() {
        return name;
    }
}
