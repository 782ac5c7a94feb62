package coppice.guest;

/// How an agent answered HELLO.
public sealed interface Greeting {
    record Welcomed(Guest guest) implements Greeting {}

    /// The guest could not become what HELLO asked of it. The VM must be destroyed: a copy that is not itself must not speak.
    record Refused(String code, String message) implements Greeting {}
}
