package coppice.guest;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.net.ProtocolException;
import java.util.Optional;

/// A request whose data flows while it goes on, at the end of whoever asked. Closing it tells the agent that nobody listens any
/// more, unless the request is over.
final class Flow implements AutoCloseable {
    private final Agent agent;
    private final String operation;
    private final Call call;
    private final Agent.Refusal refusal;

    Flow(Agent agent, Request request, Agent.Refusal refusal) {
        this.agent = agent;
        this.operation = request.operation();
        this.refusal = refusal;
        this.call = agent.open(request);
    }

    /// Looks whenever something came or was sent, until something is found; empty if the deadline came first. Bodies and inlets are
    /// touched only by looks.
    <T> Optional<T> await(Call.Look<T> look, Deadline deadline) {
        return agent.connection().await(call, () -> open(look), deadline);
    }

    /// As [#await], but late is a failure.
    <T> T require(Call.Look<T> look, Deadline deadline) {
        return await(look, deadline)
                .orElseThrow(() -> agent.connection().late("the transfer of " + operation));
    }

    /// The RESULT, once it is here; fails if the request was refused or the connection ended.
    Optional<Fields> result() {
        var answer = call.answer().value();
        answer.flatMap(this::refused)
                .ifPresent(
                        why -> {
                            throw why;
                        });
        return answer.map(Agent::result);
    }

    /// Fails if the request ended in any way: it should go on.
    void requireOngoing() throws ProtocolException {
        if (result().isPresent()) {
            throw new ProtocolException("the result of %s came too early".formatted(operation));
        }
    }

    Optional<Answer> answer() {
        return call.answer().value();
    }

    @Override
    public void close() {
        agent.connection().abandon(call);
    }

    private Optional<Failure> refused(Answer answer) {
        return answer instanceof Answer.Refused refused
                ? Optional.of(refusal.failure(refused))
                : Optional.empty();
    }

    private <T> Optional<T> open(Call.Look<T> look) throws ProtocolException {
        if (call.isAbandoned()) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s of %s was closed; begin it again".formatted(operation, agent.name()));
        }
        return look.now();
    }
}
