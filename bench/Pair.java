/// What the server does, and the same without it. Done in turn, so that whatever else the machine does hits both.
final class Pair {
    final Stats server = new Stats();
    final Stats floor = new Stats();

    /// Measures each once more. Who is first changes every time: what one leaves behind must not always burden the same other.
    void measure(Step byServer, Step byHand) throws Exception {
        if (server.count() % 2 == 0) {
            server.add(Step.time(byServer));
            floor.add(Step.time(byHand));
        } else {
            floor.add(Step.time(byHand));
            server.add(Step.time(byServer));
        }
    }
}
