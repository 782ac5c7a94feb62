/// Where traffic comes from or goes to: a guest of whoever, or a namespace. It has the program `bench/flow.c`.
interface End {

    /// Runs the program to its end.
    ///
    /// @return what it printed
    String flow(String arguments) throws Exception;
}
