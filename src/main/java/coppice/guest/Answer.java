package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;

/// How a request ended.
sealed interface Answer {
    record Result(Fields fields) implements Answer {}

    /// The agent's RESET. Both texts are already safe to show.
    record Refused(String code, String message) implements Answer {
        static Refused of(Fields fields) {
            return new Refused(
                    GuestText.clean(fields.text(Tag.CODE).orElse("FAILED")),
                    GuestText.clean(fields.text(Tag.MESSAGE).orElse("")));
        }

        Failure failure(String guest, String operation) {
            return switch (code) {
                case "UNSUPPORTED" -> unsupported(guest, operation);
                case "BAD_REQUEST" ->
                        new Failure(
                                Code.BAD_REQUEST,
                                "the guest agent of %s refused %s: %s"
                                        .formatted(guest, operation, message));
                case "TOO_MANY" ->
                        new Failure(
                                Code.RATE_LIMITED,
                                "%s runs or keeps too many commands; try again when some have ended"
                                        .formatted(guest));
                default ->
                        new Failure(
                                Code.UNAVAILABLE,
                                "the guest agent of %s could not do %s: %s: %s"
                                        .formatted(guest, operation, code, message));
            };
        }
    }

    /// The connection ended before the request did.
    record Closed(Failure why) implements Answer {
        /// Made anew, so that the stack trace is the waiting thread's.
        Failure failure() {
            return new Failure(why.code(), why.getMessage(), why);
        }
    }

    static Failure unsupported(String guest, String operation) {
        return new Failure(
                Code.AGENT_UNSUPPORTED,
                "the guest agent of %s does not know %s; update the agent in the VM's image"
                        .formatted(guest, operation));
    }
}
