package coppice.network;

import coppice.identity.AccountId;
import coppice.store.Store;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;

/// What all accounts have, in memory as it is in the store. A change is planned on what is there, written, then seen by readers, then told
/// to listeners; one change at a time. Reads never wait.
final class Truth {
    private final Store store;
    private final Map<AccountId, AccountNetworks> accounts = new ConcurrentHashMap<>();
    private final List<NetworkListener> listeners = new CopyOnWriteArrayList<>();
    private final ReentrantLock changing = new ReentrantLock();

    /// @param write part of a unit of the store
    record Change<T>(AccountNetworks after, Consumer<Handle> write, T result) {}

    Truth(Store store) {
        this.store = store;
        accounts.putAll(store.read(Truth::readAll));
    }

    private static Map<AccountId, AccountNetworks> readAll(Handle handle) {
        var read = new HashMap<AccountId, AccountNetworks>();
        NetworkRecords.vpcs(handle)
                .forEach(
                        vpc ->
                                read.merge(
                                        vpc.account(),
                                        AccountNetworks.NONE.with(vpc),
                                        (a, _) -> a.with(vpc)));
        TunnelRecords.tunnels(handle)
                .forEach(
                        tunnel ->
                                read.merge(
                                        tunnel.account(),
                                        AccountNetworks.NONE.with(tunnel),
                                        (a, _) -> a.with(tunnel)));
        NetworkRecords.nics(handle)
                .forEach(
                        nic ->
                                read.merge(
                                        nic.account(),
                                        AccountNetworks.NONE.with(nic),
                                        (a, _) -> a.with(nic)));
        NetworkRecords.rules(handle).stream()
                .collect(Collectors.groupingBy(Rule::account))
                .forEach(
                        (account, rules) ->
                                read.merge(
                                        account,
                                        AccountNetworks.NONE.with(rules),
                                        (a, _) -> a.with(rules)));
        return read;
    }

    AccountNetworks of(AccountId account) {
        return accounts.getOrDefault(account, AccountNetworks.NONE);
    }

    Stream<AccountNetworks> all() {
        return accounts.values().stream();
    }

    void listen(NetworkListener listener) {
        listeners.add(listener);
    }

    <T> T change(AccountId account, Function<AccountNetworks, Change<T>> plan) {
        return change(
                account,
                plan,
                write -> {
                    store.change(write);
                    return true;
                },
                (_, result) -> result);
    }

    /// As [#change(AccountId, Function)], as part of a unit of somebody else.
    ///
    /// @param commit has the given part run in its unit, and returns when that is on disk
    <T, R, A> A change(
            AccountId account,
            Function<AccountNetworks, Change<T>> plan,
            Function<Consumer<Handle>, R> commit,
            java.util.function.BiFunction<R, T, A> answer) {
        AccountNetworks before;
        Change<T> change;
        R committed;
        changing.lock();
        try {
            before = of(account);
            change = plan.apply(before);
            committed = commit.apply(change.write());
            accounts.put(account, change.after());
        } finally {
            changing.unlock();
        }
        for (var listener : listeners) {
            listener.changed(account, before, change.after());
        }
        return answer.apply(committed, change.result());
    }
}
