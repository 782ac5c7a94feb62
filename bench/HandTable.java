/// One element of a set of nftables, in a namespace where nothing else is: the least that can be changed, by the programs that the server
/// uses.
final class HandTable implements AutoCloseable {
    private static final String NAME = "table";
    private static final String CHANGE =
            "nft -f - <<'END'\n%s element inet bench allowed { 10.0.0.1 }\nEND\n";

    private final Namespace namespace = Namespace.make(NAME);

    HandTable() {
        namespace.run(
                "nft add table inet bench\nnft add set inet bench allowed '{ type ipv4_addr; }'\n");
    }

    void add() {
        namespace.run(CHANGE.formatted("add"));
    }

    void remove() {
        namespace.run(CHANGE.formatted("delete"));
    }

    @Override
    public void close() {
        namespace.remove();
    }
}
