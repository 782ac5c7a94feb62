package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Code;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The status of each code, as the error tables of the contract have it. The tests of packages that know no HTTP name codes only; that an
/// answer has the status of its failure's kind, [AnswersTest] says.
class StatusesTest {
    private static final Map<Integer, String> ROWS =
            Map.ofEntries(
                    Map.entry(
                            400,
                            """
                            BAD_REQUEST FILES_BAD_REQUEST INVALID_CLI_TEAM_HEADER CHECKSUM_MISMATCH CREATE_SNAPSHOT_BAD_REQUEST
                            INVALID_SNAPSHOT_ID SNAPSHOT_VM_BAD_REQUEST VM_NOT_RUNNING CREATE_VM_BAD_REQUEST VALIDATION_ERROR
                            DUPLICATE_USER_NAME USER_GROUP_EMPTY USER_SYSTEM_FLAG_MISMATCH USER_UID_OUT_OF_RANGE USER_HOME_INVALID
                            USER_SHELL_INVALID DUPLICATE_GROUP_NAME GROUP_NAME_RESERVED GROUP_NAME_INVALID_CHARS GROUP_NAME_TOO_LONG
                            GROUP_NAME_EMPTY SERVICE_NAME_EMPTY SERVICE_NAME_TOO_LONG SERVICE_NAME_INVALID_PREFIX
                            SERVICE_NAME_INVALID_CHARS EXEC_EMPTY ENV_KEY_EMPTY ENV_KEY_CONTAINS_EQUALS USER_EMPTY GROUP_EMPTY
                            WORKDIR_EMPTY WANTED_BY_EMPTY AFTER_ARRAY_CONTAINS_EMPTY REQUIRES_ARRAY_CONTAINS_EMPTY
                            ON_FAILURE_ARRAY_CONTAINS_EMPTY MANAGED_IDENTITY_DELETE
                            """),
                    Map.entry(
                            401,
                            """
                            MISSING_CREDENTIALS INVALID_API_KEY INVALID_IDENTITY_TOKEN INVALID_CLI_CREDENTIAL MISSING_ACCOUNT_CONTEXT
                            UNAUTHORIZED_ERROR
                            """),
                    Map.entry(
                            403,
                            """
                            FORBIDDEN ACCESS_DENIED VM_LIMIT_EXCEEDED TOTAL_VM_LIMIT_EXCEEDED SNAPSHOT_LIMIT_EXCEEDED
                            LINUX_USER_NOT_ALLOWED CLI_TEAM_ACCESS_DENIED CANNOT_DELETE_MANAGED_IDENTITY CANNOT_MODIFY_MANAGED_IDENTITY
                            """),
                    Map.entry(
                            404,
                            """
                            NOT_FOUND FILE_NOT_FOUND VM_NOT_FOUND SNAPSHOT_NOT_FOUND NO_DEFAULT_SNAPSHOT_AVAILABLE USER_NOT_FOUND
                            GROUP_NOT_FOUND SERVICE_NOT_FOUND IDENTITY_NOT_FOUND VM_PERMISSION_NOT_FOUND
                            """),
                    Map.entry(405, "METHOD_NOT_ALLOWED"),
                    Map.entry(
                            409,
                            """
                            CONFLICT VM_IS_SUSPENDING SNAPSHOT_IS_ACCOUNT_DEFAULT SNAPSHOT_ALREADY_DELETED SERVICE_ALREADY_EXISTS
                            AGENT_UNSUPPORTED PERMISSION_ALREADY_EXISTS
                            """),
                    Map.entry(410, "VM_DELETED"),
                    Map.entry(413, "PAYLOAD_TOO_LARGE"),
                    Map.entry(415, "UNSUPPORTED_MEDIA_TYPE"),
                    Map.entry(416, "RANGE_NOT_SATISFIABLE"),
                    Map.entry(426, "UPGRADE_REQUIRED"),
                    Map.entry(429, "RATE_LIMITED"),
                    Map.entry(
                            500,
                            """
                            INTERNAL_ERROR VM_EXIT_DURING_START KERNEL_PANIC RESIZE_FAILED SUSPEND_FAILED_AND_STOPPED VM_SETUP_FAILED
                            """),
                    Map.entry(
                            503,
                            "UNAVAILABLE KEY_RESOLVER_UNAVAILABLE CLI_TEAM_RESOLVER_UNAVAILABLE"),
                    Map.entry(504, "VM_START_TIMEOUT"),
                    Map.entry(507, "DISK_FULL BACKGROUND_RESULT_UNSTORABLE"));

    @ParameterizedTest
    @EnumSource(Code.class)
    void eachCodeHasTheStatusOfItsRows(Code code) {
        var statuses =
                ROWS.entrySet().stream()
                        .filter(
                                row ->
                                        List.of(row.getValue().strip().split("\\s+"))
                                                .contains(code.name()))
                        .map(Map.Entry::getKey)
                        .toList();
        assertEquals(statuses, List.of(Errors.status(code.kind())));
    }
}
