/// Who takes part in traffic: a guest of whoever, or a namespace. It has the program `bench/flow.c`.
interface End {

    /// Where others reach it.
    String address();

    /// Runs the program to its end.
    ///
    /// @return what it printed
    String flow(String arguments) throws Exception;
}
