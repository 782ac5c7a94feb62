package coppice.network;

/// What can be in a private network and be named by a rule: the id of a VM.
public record MemberId(String text) {
    @Override
    public String toString() {
        return text;
    }
}
