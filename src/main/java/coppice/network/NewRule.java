package coppice.network;

import java.util.Optional;

/// What a rule is to permit. Inside of a create, an end that is bare means what is being created.
public record NewRule(Matcher source, Matcher destination, Optional<String> description) {
    NewRule meaning(MemberId self) {
        return new NewRule(source.meaning(self), destination.meaning(self), description);
    }

    NewRule meaning(VpcId self) {
        return new NewRule(source.meaning(self), destination.meaning(self), description);
    }
}
