package coppice.vm;

import coppice.node.Node;
import java.time.InstantSource;

/// What every VM's loop works with.
record VmContext(
        VmRecords records,
        Machines machines,
        Node node,
        InstantSource clock,
        VmLimits limits,
        Fleet fleet) {}
