package coppice.fabric;

import coppice.base.Cidr;
import coppice.identity.AccountId;
import coppice.network.Ends;
import coppice.network.Matcher;
import coppice.network.NewRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// Rules of all shapes that permit a certain connection.
record Covers(Random random) {

    /// One that says this or that of it.
    ///
    /// @param account one of those whose rules are asked
    NewRule any(Trial trial, AccountId account) {
        var flow = trial.flow();
        return Ends.rule(
                narrowed(any(shapes(trial.from(), account)), flow, flow.sourcePort()),
                narrowed(any(shapes(trial.to(), account)), flow, flow.destinationPort()));
    }

    /// One that permits nothing else.
    NewRule exact(Trial trial) {
        var flow = trial.flow();
        return Ends.rule(
                Given.at(
                        Ends.of(Cidr.of(trial.from().address())),
                        flow.protocol(),
                        flow.sourcePort()),
                Given.at(
                        Ends.of(Cidr.of(trial.to().address())),
                        flow.protocol(),
                        flow.destinationPort()));
    }

    private List<Matcher> shapes(End end, AccountId account) {
        var address = end.address();
        var party = end.party(account, Optional.empty());
        var shapes = new ArrayList<Matcher>();
        shapes.add(Ends.of(Cidr.of(address)));
        shapes.add(Ends.of(Cidr.around(address, random.nextInt(address.bits() + 1))));
        party.vm().map(Ends::of).ifPresent(shapes::add);
        party.vpcs().stream().map(Ends::of).forEach(shapes::add);
        party.tunnel().map(Ends::of).ifPresent(shapes::add);
        if (party.isPublic().orElse(false)) {
            shapes.add(Matcher.INTERNET);
        }
        return shapes;
    }

    private Matcher narrowed(Matcher end, Flow flow, int port) {
        return switch (random.nextInt(4)) {
            case 0 -> Given.at(end, flow.protocol(), port);
            case 1 -> Given.speaking(end, flow.protocol());
            default -> end;
        };
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
