package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;

/// A free name for people: 1 to 128 characters, none of them a control character.
record Label(String text) {
    private static final int MAX_LENGTH = 128;

    static Label parse(String field, String text) {
        var length = text.codePointCount(0, text.length());
        if (length < 1
                || length > MAX_LENGTH
                || text.codePoints().anyMatch(Character::isISOControl)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s must be 1 to %d characters without control characters"
                            .formatted(field, MAX_LENGTH));
        }
        return new Label(text);
    }
}
