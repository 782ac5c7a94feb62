package coppice.api.v5;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.network.AccountNetworks;
import coppice.network.MemberId;
import coppice.network.Networks;
import coppice.network.Tunnel;
import coppice.network.Vpc;
import coppice.vm.Vms;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// What the bodies and queries of an account may name, by id or slug, at one moment.
///
/// @param vms fails with `NOT_FOUND` for a VM that the account does not have
record Names(Function<String, MemberId> vms, AccountNetworks networks) {

    static Names of(AccountId account, Vms vms, Networks networks) {
        return new Names(
                name -> new MemberId(vms.get(account, name).id().text()), networks.of(account));
    }

    /// `NOT_FOUND` that begins with the field, if it is absent.
    MemberId vm(String field, String name) {
        try {
            return vms.apply(name);
        } catch (Failure e) {
            throw new Failure(e.code(), "%s: %s".formatted(field, e.getMessage()), e);
        }
    }

    /// `NOT_FOUND` that begins with the field, if it is absent.
    Vpc vpc(String field, String name) {
        return networks.vpc(name).orElseThrow(absent(field, "network", name));
    }

    /// `NOT_FOUND` that begins with the field, if it is absent.
    Tunnel tunnel(String field, String name) {
        return networks.tunnel(name).orElseThrow(absent(field, "tunnel", name));
    }

    private static Supplier<Failure> absent(String field, String kind, String name) {
        return () ->
                new Failure(
                        Code.NOT_FOUND,
                        "%s: there is no %s %s".formatted(field, kind, Networks.shown(name)));
    }

    /// The VM, if the account has it.
    Optional<MemberId> findVm(String name) {
        try {
            return Optional.of(vms.apply(name));
        } catch (Failure e) {
            if (e.code() == Code.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }
}
