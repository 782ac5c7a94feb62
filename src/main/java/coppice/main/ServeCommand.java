package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;

/// Runs the server until it is told to stop by SIGTERM or SIGINT.
@Command(
        name = "serve",
        description = {
            "Run the server in the foreground until SIGTERM or SIGINT.",
            "VMs go on without it and are taken over by the next one."
        },
        mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {

    @Override
    public Integer call() throws InterruptedException {
        var settings = Environment.settings();
        var stop = new CountDownLatch(1);
        var stopped = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () -> {
                                    stop.countDown();
                                    awaitQuietly(stopped);
                                }));
        var pidFile = settings.dataDirectory().resolve("server.pid");
        try (var _ = Server.start(Environment.home(), settings)) {
            write(pidFile);
            stop.await();
            Files.deleteIfExists(pidFile);
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s cannot be removed".formatted(pidFile), e);
        } finally {
            stopped.countDown();
        }
        return 0;
    }

    private static void write(Path pidFile) {
        try {
            Files.writeString(pidFile, ProcessHandle.current().pid() + "\n");
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "%s cannot be written".formatted(pidFile), e);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
