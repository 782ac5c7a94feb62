package coppice.api;

/// What an operation does. Its failures are thrown.
@FunctionalInterface
public interface Handler {
    Reply handle(Call call);
}
