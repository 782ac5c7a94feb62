package coppice.identity;

import coppice.base.Secret;
import java.util.UUID;

/// An identity access token that was just made. `token`, the text to send, exists only here: show it once.
public record NewToken(UUID id, Secret token) {}
