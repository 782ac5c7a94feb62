package coppice.guest;

/// The names of fields, with their numbers on the wire.
enum Tag {
    OPERATION(1),
    VERSION(2),
    GENERATION(3),
    WALL_CLOCK(4),
    ENTROPY(5),
    WINDOW(6),
    HOSTNAME(7),
    MACHINE_ID(8),
    AGENT_VERSION(9),
    CAPABILITY(10),
    CODE(11),
    MESSAGE(12),
    BOOT_ID(13),
    EXEC_ID(20),
    COMMAND(21),
    USER(22),
    ENVIRONMENT(23),
    TIME_LIMIT(24),
    OUTPUT_LIMIT(25),
    DIRECTORY(26),
    STDOUT_OFFSET(27),
    STDERR_OFFSET(28),
    SIGNAL(29),
    EXIT_STATUS(30),
    TIMED_OUT(31),
    STDOUT_LENGTH(32),
    STDERR_LENGTH(33),
    TERMINAL(34),
    COUNT(40),
    SIZE(41),
    PATH(50),
    FOLLOW(51),
    OFFSET(52),
    LENGTH(53),
    MODE(54),
    KIND(55),
    OWNER(56),
    GROUP(57),
    MODIFIED(58),
    NAME(59),
    CHECKSUM(60),
    EVENT(61),
    SESSION(70),
    SLUG(71),
    COLUMNS(72),
    ROWS(73),
    CREATED(74),
    RESPAWN(75),
    FRESH(76),
    DEVICE_ADDRESS(80),
    MTU(81),
    ADDRESS(82),
    GATEWAY(83),
    ROUTE(84),
    RESOLVER(85);

    private final int code;

    Tag(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
