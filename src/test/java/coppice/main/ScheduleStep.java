package coppice.main;

/// One step of a random schedule: a request, and what it makes of the [Model].
interface ScheduleStep {

    /// Sends the request. Throws [java.io.UncheckedIOException] when the server dies before it answers.
    Client.Answer send(Client client);

    /// It was answered; fails unless the answer is what it must be.
    void answered(Client.Answer answer);

    /// The server died before it answered, and runs again: finds out which of the two outcomes it is, and fails when it is neither.
    void lost(Client client);

    /// About how long it takes: somewhere in this time the server is killed.
    default int millis() {
        return 150;
    }

    /// What is done, for the message of a test that fails.
    @Override
    String toString();
}
