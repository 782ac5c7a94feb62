package coppice.main;

import java.util.Random;

/// One way of using a VM, by one thread, together with what must come of it. What is cut off is made sure of before the next step.
abstract class Traffic {
    final Client client;
    final Weather weather;
    final Story story;
    final String vm;
    final Random random;
    final Sizes sizes;

    Traffic(Lane lane) {
        client = lane.client();
        weather = lane.weather();
        story = lane.story();
        vm = lane.vm();
        random = lane.random();
        sizes = lane.sizes();
    }

    /// Does one thing and fails when anything but what must come of it came.
    abstract void step();

    /// Makes sure of what is still in doubt.
    abstract void end();
}
