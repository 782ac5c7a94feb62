package coppice.base;

/// A free name for people: 1 to 128 characters, none of them a control character.
public record Label(String text) {
    private static final int MAX_LENGTH = 128;

    public Label {
        if (!isLabel(text)) {
            throw new IllegalArgumentException("not a label: " + text);
        }
    }

    /// Reads what a caller sent as `field`; anything that is no label is a `BAD_REQUEST` that names the field.
    public static Label parse(String field, String text) {
        if (!isLabel(text)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s must be 1 to %d characters without control characters"
                            .formatted(field, MAX_LENGTH));
        }
        return new Label(text);
    }

    private static boolean isLabel(String text) {
        var length = text.codePointCount(0, text.length());
        return length >= 1
                && length <= MAX_LENGTH
                && text.codePoints().noneMatch(Character::isISOControl);
    }

    @Override
    public String toString() {
        return text;
    }
}
