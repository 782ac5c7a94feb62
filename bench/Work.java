/// What guests are given to do. Commands of a shell, without quotes that JSON would have to escape.
final class Work {
    /// Keeps the processor busy until [#REST].
    static final String BUSY =
            "setsid sh -c 'while :; do :; done' >/dev/null 2>&1 </dev/null & echo $! >/tmp/busy";

    static final String REST = "kill -9 $(cat /tmp/busy); rm /tmp/busy";

    private Work() {}

    /// Writes so much memory: the same pages of a file in memory every time, with random bytes.
    static String dirty(int mib) {
        // One block at a time is random: making random bytes takes an emulated guest far longer
        // than writing them.
        int block = mib % 10 == 0 ? 10 : 1;
        return """
        head -c %dM /dev/urandom >/tmp/block; i=0; \
        while [ $i -lt %d ]; do cat /tmp/block; i=$((i+1)); done 1<>/dev/shm/dirty; rm /tmp/block"""
                .formatted(block, mib / block);
    }
}
