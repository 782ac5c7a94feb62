package coppice.api.v5;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Headers;
import coppice.vm.FilePart;
import java.util.regex.Pattern;

/// The header `Range` of RFC 9110, one range of bytes at most. What cannot be understood is refused: who asks for a part must not be
/// surprised by the whole.
final class RangeHeader {
    private static final Pattern RANGE =
            Pattern.compile("bytes=\\s*([0-9]*)-([0-9]*)", Pattern.CASE_INSENSITIVE);
    private static final int MAX_DIGITS = 18;

    private RangeHeader() {}

    static FilePart part(Headers headers) {
        var values = headers.all("Range");
        if (values.isEmpty()) {
            return new FilePart.Whole();
        }
        var range = RANGE.matcher(values.getFirst().strip());
        if (values.size() > 1 || !range.matches()) {
            throw bad();
        }
        var first = range.group(1);
        var last = range.group(2);
        if (first.isEmpty()) {
            return new FilePart.Last(number(last));
        }
        long from = number(first);
        long to = last.isEmpty() ? Long.MAX_VALUE : number(last);
        if (to < from) {
            throw bad();
        }
        return new FilePart.Between(from, to);
    }

    /// No file is longer than what is said of numbers that are.
    private static long number(String digits) {
        if (digits.isEmpty()) {
            throw bad();
        }
        var significant = digits.replaceFirst("^0+(?=.)", "");
        return significant.length() > MAX_DIGITS ? Long.MAX_VALUE : Long.parseLong(significant);
    }

    private static Failure bad() {
        return new Failure(
                Code.BAD_REQUEST,
                "the header Range must be one of bytes=a-b, bytes=a- and bytes=-n; leave it out to get the whole file");
    }
}
