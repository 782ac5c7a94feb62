package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// The open calls of a connection, each with the number of its stream.
final class Calls {
    private static final int MAX_OPEN = 4096;

    private final String name;
    private final Outbox outbox;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Integer, Call> open = new HashMap<>();
    private int nextStream = 1;
    private Optional<Failure> over = Optional.empty();

    Calls(String name, Outbox outbox) {
        this.name = name;
        this.outbox = outbox;
    }

    /// A new call, which is ready to be sent. Once they are over it is answered by that at once.
    Call begin(Request request, long bodyCredit) {
        lock.lock();
        try {
            if (over.isEmpty() && open.size() >= MAX_OPEN) {
                throw new Failure(
                        Code.RATE_LIMITED,
                        "too many requests to the guest agent of %s at once; try again later"
                                .formatted(name));
            }
            if (nextStream == 0) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "the connection to the guest agent of %s is used up; connect again"
                                .formatted(name));
            }
            var call = new Call(nextStream, request, bodyCredit);
            if (over.isPresent()) {
                call.close(over.get());
            } else {
                add(call);
            }
            return call;
        } finally {
            lock.unlock();
        }
    }

    /// Under the lock, so that streams are opened in the order of their numbers: to the agent a number below the last is a stream that is
    /// over, and is not answered.
    private void add(Call call) {
        open.put(nextStream++, call);
        outbox.ready(call);
    }

    Optional<Call> find(int stream) {
        lock.lock();
        try {
            return Optional.ofNullable(open.get(stream));
        } finally {
            lock.unlock();
        }
    }

    void forgetIfOver(Call call) {
        if (call.isOver()) {
            lock.lock();
            try {
                open.remove(call.stream());
            } finally {
                lock.unlock();
            }
        }
    }

    /// Why no call is begun any more.
    Optional<Failure> over() {
        lock.lock();
        try {
            return over;
        } finally {
            lock.unlock();
        }
    }

    /// Answers all by `why`, and begins a last one; none if they were over.
    Optional<Call> last(Request request, Failure why) {
        List<Call> before;
        Call last;
        lock.lock();
        try {
            if (over.isPresent() || nextStream == 0) {
                return Optional.empty();
            }
            over = Optional.of(why);
            before = List.copyOf(open.values());
            last = new Call(nextStream, request, 0);
            open.clear();
            add(last);
        } finally {
            lock.unlock();
        }
        before.forEach(call -> call.close(why));
        return Optional.of(last);
    }

    /// Answers all by `why`.
    void close(Failure why) {
        List<Call> before;
        lock.lock();
        try {
            over = over.or(() -> Optional.of(why));
            before = List.copyOf(open.values());
            open.clear();
        } finally {
            lock.unlock();
        }
        before.forEach(call -> call.close(why));
    }

    /// Has whatever would change them wait until the same thread releases them.
    ///
    /// @return whether there is none
    boolean hold() {
        lock.lock();
        return open.isEmpty();
    }

    void release() {
        lock.unlock();
    }
}
