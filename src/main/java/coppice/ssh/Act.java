package coppice.ssh;

/// What a channel is: something that runs in a guest, with the channel as its streams.
interface Act {
    /// Starts it, and relays until it has ended. Fails as what it uses does; the message is for the client.
    Ending run();

    /// The client's window has another size. May wait.
    void resize(TerminalSize size);

    /// The client wants it to have a signal. May wait.
    void signal(int number);

    /// The client is gone, or may not be here any more: from any thread, at any time, without waiting.
    void hangUp();
}
