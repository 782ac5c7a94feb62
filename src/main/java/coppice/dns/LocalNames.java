package coppice.dns;

import coppice.base.IpAddress;
import java.util.List;
import java.util.Optional;

/// What private names and addresses are to one client, which is known by its address. It is asked on many threads at once, and
/// [#isKnown] for every packet: it must answer from memory.
public interface LocalNames {
    /// The addresses of both families of a name that this client knows; empty when it knows no such name.
    ///
    /// @param label in lower case
    Optional<List<IpAddress>> addresses(IpAddress client, String label);

    /// The label that an address has for this client.
    Optional<String> nameOf(IpAddress client, IpAddress address);

    /// Whether anything is answered to it.
    boolean isKnown(IpAddress client);
}
