package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;

/// One operation on one session, named for people by `subject`.
record TerminalRequest(Agent agent, String operation, String subject) {

    Failure refused(Answer.Refused refused) {
        return switch (refused.code()) {
            case "NO_SUCH_SESSION" ->
                    new Failure(
                            Code.NOT_FOUND,
                            "%s has no %s; list its terminals".formatted(agent.name(), subject));
            case "NO_SUCH_USER" ->
                    new Failure(
                            Code.BAD_REQUEST,
                            "%s has no such user for %s; create it there first"
                                    .formatted(agent.name(), subject));
            case "SLUG_TAKEN" ->
                    new Failure(
                            Code.CONFLICT,
                            "%s of %s is another user's; choose another slug"
                                    .formatted(subject, agent.name()));
            case "TOO_MANY" ->
                    new Failure(
                            Code.CONFLICT,
                            "%s has too many terminals; close one".formatted(agent.name()));
            default -> refused.failure(agent.name(), operation);
        };
    }
}
