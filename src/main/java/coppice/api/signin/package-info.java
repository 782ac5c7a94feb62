/// How people sign in: the calls and the page by which a program gets a session for whoever is in front of it, what teams that one has, and
/// the API keys of those.
///
/// Clients know two origins for this beside that of the API; this server is all three. The routes are open ones ([coppice.api.Route#open]),
/// since nobody has an account's credential yet; what is behind them is in `identity`. Start with [coppice.api.signin.SignInRoutes], then
/// [coppice.api.signin.ConfirmPage] and [coppice.api.signin.TeamRoutes].
package coppice.api.signin;
