package coppice.identity;

import coppice.base.Secret;

/// A key that was just made. `bearer`, the text to send, exists only here: show it once.
public record NewApiKey(ApiKey key, Secret bearer) {}
