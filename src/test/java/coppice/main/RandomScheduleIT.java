package coppice.main;

import coppice.Seed;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Whatever is done to VMs in whatever order, and whenever the server is killed: no byte is lost, none is foreign, and nothing is left.
class RandomScheduleIT {

    /// `-Dcoppice.steps=N` makes a soak of it.
    private static final int STEPS = Integer.getInteger("coppice.steps", 200);

    @Test
    @Timeout(value = 24, unit = TimeUnit.HOURS)
    void noByteIsLostOrForeignAndNothingIsLeftAfterAnyScheduleOfSteps() throws Exception {
        var random = Seed.random(RandomScheduleIT.class);
        try (var installation = Installation.start()) {
            var schedule = new Schedule(installation, random);
            try {
                schedule.run(STEPS);
                schedule.end();
            } catch (Exception | AssertionError e) {
                throw new AssertionError(
                        "%s\n\nSteps:\n%s\n\nServer:\n%s"
                                .formatted(
                                        e.getMessage(), schedule.story(), installation.logTail()),
                        e);
            }
            System.out.println(schedule.story());
        }
    }
}
