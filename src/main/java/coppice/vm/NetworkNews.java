package coppice.vm;

import coppice.base.Deadline;
import coppice.base.Failure;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells guests that run what their networks have become since they were told. One that cannot be told is told with its next start.
final class NetworkNews {
    private static final Logger LOG = LoggerFactory.getLogger(NetworkNews.class);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Wiring wiring;
    private final Set<VmId> waiting = ConcurrentHashMap.newKeySet();

    NetworkNews(Wiring wiring) {
        this.wiring = wiring;
    }

    /// Does not wait for anybody.
    void look(Fleet fleet) {
        waiting.removeIf(vm -> fleet.find(vm).isEmpty());
        for (var life : fleet.all()) {
            var vm = life.vm();
            if (wiring.isOutdated(vm) && waiting.add(vm.id())) {
                life.loop().tell(() -> tell(life));
            }
        }
    }

    private void tell(VmLife life) {
        waiting.remove(life.vm().id());
        life.up().ifPresent(live -> tell(life.vm(), live));
    }

    private void tell(Vm vm, Machines.Live live) {
        var deadline = Deadline.in(PATIENCE);
        try {
            wiring.retell(vm, () -> live.line().guest(deadline), deadline);
        } catch (Failure e) {
            LOG.warn("{} is told of its network with its next start: {}", vm.id(), e.getMessage());
        }
    }
}
