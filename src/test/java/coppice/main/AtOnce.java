package coppice.main;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// The same call many times at once.
final class AtOnce {
    private AtOnce() {}

    static <T> List<T> call(int count, IntFunction<T> call)
            throws InterruptedException, ExecutionException {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls =
                    IntStream.range(0, count)
                            .<Callable<T>>mapToObj(i -> () -> call.apply(i))
                            .toList();
            var answers = new ArrayList<T>();
            for (Future<T> answer : threads.invokeAll(calls)) {
                answers.add(answer.get());
            }
            return answers;
        }
    }
}
