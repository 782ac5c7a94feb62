package coppice.network;

/// What becomes of a connection, and why.
public sealed interface Verdict {
    boolean isAllowed();

    /// Which end is the platform.
    enum Side {
        SOURCE,
        DESTINATION,
        BOTH
    }

    /// The platform's own traffic; rules do not change it.
    record AllowedByPlatform(Side side) implements Verdict {
        @Override
        public boolean isAllowed() {
            return true;
        }
    }

    /// The oldest rule that permits it.
    record AllowedByRule(RuleId rule) implements Verdict {
        @Override
        public boolean isAllowed() {
            return true;
        }
    }

    /// Mail to the Internet; rules do not change it.
    record DeniedAsMail() implements Verdict {
        @Override
        public boolean isAllowed() {
            return false;
        }
    }

    /// No rule permits it.
    record Denied() implements Verdict {
        @Override
        public boolean isAllowed() {
            return false;
        }
    }
}
