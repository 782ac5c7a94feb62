package coppice.main;

import coppice.fabric.Reading;
import coppice.json.JsonWriter;
import coppice.network.Protocol;
import java.util.List;
import java.util.Optional;

/// A connection that a guest tries, as its commands do it.
///
/// @param port of UDP: one where nobody listens, so that it is answered that it is closed
record GuestFlow(Party from, Protocol protocol, Party to, int port) {
    /// From where traceroute(1) counts.
    static final int CLOSED = 33_434;

    /// One end of it.
    ///
    /// @param vm absent: somebody on the Internet, or nobody
    record Party(Optional<Vm> vm, String address, boolean isReachable) {}

    /// A VM as the API answers it.
    ///
    /// @param owner of its account
    /// @param vpcs the ids of the networks that it is in
    record Vm(String id, Client owner, List<String> vpcs, List<String> addresses) {
        boolean isBeside(Vm other) {
            return owner == other.owner && !vpcs.isEmpty() && vpcs.equals(other.vpcs);
        }
    }

    boolean isV6() {
        return to.address().contains(":");
    }

    /// A line of shell that says `number yes` if it was answered.
    String command(int number, int patience) {
        var command =
                switch (protocol) {
                    case TCP ->
                            "timeout %d wget -T %d -O /dev/null http://%s:%d/page 2>&1 | grep -q 'HTTP/1\\|returned\\|saved'"
                                    .formatted(
                                            patience + 1,
                                            patience,
                                            isV6() ? "[%s]".formatted(to.address()) : to.address(),
                                            port);
                    case ICMP ->
                            "%s -c 1 -W %d %s >/dev/null 2>&1"
                                    .formatted(isV6() ? "ping6" : "ping", patience, to.address());
                    case UDP ->
                            // Not by somebody on the way.
                            "%s -n -q 1 -w %d -f 9 -m 9 %s 2>/dev/null | grep -q ' %s  *[0-9.]* ms *$'"
                                    .formatted(
                                            isV6() ? "traceroute6" : "traceroute",
                                            patience,
                                            to.address(),
                                            to.address());
                };
        return "(%s && echo %d yes) &\n".formatted(command, number);
    }

    /// What every account that it is about says to it over HTTP.
    boolean isAllowedByEvaluate() {
        return to.isReachable() && owners().stream().allMatch(this::isAllowedBy);
    }

    private boolean isAllowedBy(Client account) {
        var body =
                new JsonWriter()
                        .put("source", party(account, from, Optional.empty()))
                        .put("destination", party(account, to, portOf()))
                        .put("protocol", protocol.word());
        return account.post("/v5/firewall/evaluate", new String(coppice.json.Json.write(body)))
                .expect(200)
                .requiredString("outcome")
                .equals("allowedByRule");
    }

    private Optional<Integer> portOf() {
        return protocol.hasPorts() ? Optional.of(port) : Optional.empty();
    }

    private static JsonWriter party(Client account, Party end, Optional<Integer> port) {
        return new JsonWriter()
                .put("vmId", end.vm().filter(vm -> vm.owner() == account).map(Vm::id))
                .put("address", end.address())
                .put("port", port);
    }

    /// The same by the text of the contract.
    boolean isAllowedByReading(Rulebook rules) {
        return to.isReachable()
                && owners().stream()
                        .allMatch(
                                account ->
                                        Reading.permits(
                                                rules.of(account),
                                                facts(account, from, 0),
                                                facts(account, to, port),
                                                protocol));
    }

    private static Reading.Facts facts(Client account, Party end, int port) {
        var own = end.vm().filter(vm -> vm.owner() == account);
        return new Reading.Facts(
                own.map(Vm::id).orElse(""),
                own.map(Vm::vpcs).orElse(List.of()),
                "",
                end.address(),
                port);
    }

    private List<Client> owners() {
        return java.util.stream.Stream.of(from, to)
                .flatMap(end -> end.vm().stream())
                .map(Vm::owner)
                .distinct()
                .toList();
    }

    @Override
    public String toString() {
        return "%s %s (%s) -> %s %d (%s)"
                .formatted(
                        protocol.word(),
                        from.address(),
                        from.vm().map(Vm::id).orElse("-"),
                        to.address(),
                        port,
                        to.vm().map(Vm::id).orElse("-"));
    }
}
