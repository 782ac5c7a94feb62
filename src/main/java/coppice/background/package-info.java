/// Requests that go on after their callers were told to poll, and what came of them.
package coppice.background;
