package coppice.guest;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.net.ProtocolException;
import java.util.List;
import java.util.Optional;

/// The agent at the other end of a connection, and how it is asked.
record Agent(String name, Connection connection, Welcome welcome) {

    /// What a RESET of the agent means to whoever asked.
    interface Refusal {
        Failure failure(Answer.Refused refused);
    }

    /// Reads fields that came; what it cannot read is a breach.
    interface Reading<T> {
        T read() throws ProtocolException;
    }

    boolean can(String capability) {
        return welcome.capabilities().contains(capability);
    }

    void require(String operation) {
        if (!can(operation)) {
            throw Answer.unsupported(name, operation);
        }
    }

    Call open(Request request) {
        require(request.operation());
        if (request.fields().length > Request.MAX_FIELDS) {
            throw new Failure(
                    Code.PAYLOAD_TOO_LARGE,
                    "a command and its environment have at most 2 MiB; use stdin or a file");
        }
        return connection.open(request, welcome.window());
    }

    /// The RESULT of a request that has neither body nor output.
    Fields call(String operation, FieldsWriter fields, Deadline deadline) {
        return call(operation, fields, refused -> refused.failure(name, operation), deadline);
    }

    Fields call(String operation, FieldsWriter fields, Refusal refusal, Deadline deadline) {
        return call(Request.plain(operation, fields), refusal, deadline);
    }

    /// All of channel 1, which has at most `limit` bytes.
    byte[] gather(
            String operation, FieldsWriter fields, int limit, Refusal refusal, Deadline deadline) {
        var inlet = Inlet.keeping(limit);
        var request = new Request(operation, fields.toBytes(), Optional.empty(), List.of(inlet));
        var _ = call(request, refusal, deadline);
        return reading(
                () -> {
                    if (!inlet.hasEnded()) {
                        throw new ProtocolException(
                                "the result of %s came before the end of its data"
                                        .formatted(operation));
                    }
                    return inlet.bytes();
                });
    }

    Answer ask(Request request, Deadline deadline) {
        return connection.await(open(request), request.operation(), deadline);
    }

    <T> T reading(Reading<T> reading) {
        try {
            return reading.read();
        } catch (ProtocolException e) {
            throw connection.breach(e);
        }
    }

    private Fields call(Request request, Refusal refusal, Deadline deadline) {
        var answer = ask(request, deadline);
        if (answer instanceof Answer.Refused refused) {
            throw refusal.failure(refused);
        }
        return result(answer);
    }

    static Fields result(Answer answer) {
        return switch (answer) {
            case Answer.Result(var fields) -> fields;
            case Answer.Closed closed -> throw closed.failure();
            case Answer.Refused refused ->
                    throw new IllegalStateException("not handled: " + refused);
        };
    }
}
