import java.time.Duration;

/// Something to do that may fail in any way: then the measurement has failed.
interface Step {
    void run() throws Exception;

    static Duration time(Step step) throws Exception {
        long begun = System.nanoTime();
        step.run();
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
