package coppice.base;

/// Text that must not reach logs or messages. Only [#reveal] shows it.
public final class Secret {
    private final String value;

    public Secret(String value) {
        this.value = value;
    }

    public String reveal() {
        return value;
    }

    @Override
    public String toString() {
        return "***";
    }
}
