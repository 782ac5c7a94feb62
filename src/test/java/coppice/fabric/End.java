package coppice.fabric;

import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.Nic;
import coppice.network.Party;
import coppice.network.PublicAddresses;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// One end of a connection, as the network sees it.
sealed interface End {
    IpAddress address();

    /// Whose rules are asked about it.
    Stream<AccountId> owners();

    /// What an account knows of it, filled in as for `evaluate`.
    Party party(AccountId account, Optional<Integer> port);

    /// The service's own.
    record Platform(IpAddress address) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.empty();
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return Party.PLATFORM;
        }
    }

    /// Somebody on the Internet.
    record Outside(IpAddress address) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.empty();
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return bare(address, port);
        }
    }

    /// A VM, by one of its addresses. To others than its owner it is an address.
    record AtVm(Nic nic, IpAddress address) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.of(nic.account());
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return account.equals(nic.account())
                    ? new Party(
                            false,
                            Optional.of(nic.vm()),
                            nic.membership().map(place -> List.of(place.vpc())).orElse(List.of()),
                            Optional.empty(),
                            Optional.of(address),
                            Optional.of(isPublic(address)),
                            port)
                    : bare(address, port);
        }
    }

    private static Party bare(IpAddress address, Optional<Integer> port) {
        return new Party(
                false,
                Optional.empty(),
                List.of(),
                Optional.empty(),
                Optional.of(address),
                Optional.of(isPublic(address)),
                port);
    }

    private static boolean isPublic(IpAddress address) {
        return PublicAddresses.contains(address) || Lab.Site.FIRST.prefix().contains(address);
    }
}
