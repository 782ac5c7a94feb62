/// What the server does, and the same without it. Done in turn, so that whatever else the machine does hits both.
final class Pair {
    final Stats server = new Stats();
    final Stats floor = new Stats();

    private int turns;

    /// Measures each once more.
    void measure(Step byServer, Step byHand) throws Exception {
        inTurn(() -> server.add(Step.time(byServer)), () -> floor.add(Step.time(byHand)));
    }

    /// Has both done. Who is first changes every time: what one leaves behind must not always burden the same other.
    void inTurn(Step byServer, Step byHand) throws Exception {
        boolean isServerFirst = turns++ % 2 == 0;
        (isServerFirst ? byServer : byHand).run();
        (isServerFirst ? byHand : byServer).run();
    }
}
