package coppice.guest;

/// Text that a guest wrote, made safe to show to people and to put into a log.
final class GuestText {
    private static final int MAX = 200;

    private GuestText() {}

    /// At most 200 characters, without those that control, hide or reorder others.
    static String clean(String text) {
        var clean = new StringBuilder();
        for (int i = 0; i < text.length() && clean.length() < MAX; ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (isHarmless(c) && clean.length() + Character.charCount(c) <= MAX) {
                clean.appendCodePoint(c);
            }
        }
        return clean.toString();
    }

    private static boolean isHarmless(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                    false;
            default -> true;
        };
    }
}
