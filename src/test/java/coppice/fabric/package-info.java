/// Namespaces in the place of guests.
package coppice.fabric;
