package coppice.vm;

/// How willing its owner is to lose a thing: a notion of the legacy family.
public sealed interface Persistence {
    /// What a new thing has when its maker does not say.
    Sticky USUAL = new Sticky(5);

    /// Of a thing that does not go by itself.
    sealed interface Lasting extends Persistence {}

    /// Goes when its account's storage is full, lower priorities first.
    record Sticky(int priority) implements Lasting {
        public static final int MAX_PRIORITY = 10;

        public Sticky {
            if (priority < 0 || priority > MAX_PRIORITY) {
                throw new IllegalArgumentException("no such priority: " + priority);
            }
        }
    }

    /// Goes when its owner deletes it.
    record Persistent() implements Lasting {}

    /// Goes when it has done its work.
    record Ephemeral(Event event) implements Persistence {}

    /// When an ephemeral VM goes.
    enum Event {
        /// Stopped; a pause lets it live.
        STOP,
        /// Stopped or paused.
        REST
    }
}
