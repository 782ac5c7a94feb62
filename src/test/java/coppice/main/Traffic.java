package coppice.main;

/// One way of using a VM, by one thread, together with what must come of it. What is cut off is made sure of before the next step.
interface Traffic {

    /// Does one thing and fails when anything but what must come of it came.
    void step();

    /// Makes sure of what is still in doubt.
    void end();
}
