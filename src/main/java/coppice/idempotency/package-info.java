/// Requests that are done once, however often they are sent: `Idempotency-Key`.
package coppice.idempotency;
