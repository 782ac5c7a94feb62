package coppice.api;

/// How many calls an account may make.
///
/// @param perSecond in the long run
/// @param burst at once
public record CallRate(long perSecond, long burst) {
    public CallRate {
        if (perSecond < 1 || burst < 1) {
            throw new IllegalArgumentException("a rate lets at least one call through");
        }
    }
}
