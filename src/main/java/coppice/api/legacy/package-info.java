/// The legacy shapes, served under `/v1`: older fields and words for what the v5 family does too. Knows every legacy field name and no
/// behaviour; what the core's failures are called here is in [coppice.api.legacy.LegacyFailures]. Start with
/// [coppice.api.legacy.LegacyVmRoutes]. Only this family sets VMs up inside, by [coppice.api.legacy.GuestSetup].
package coppice.api.legacy;
