package coppice.main;

import java.util.Random;

/// What one way of using a VM has at hand. The randomness is its own, so that its steps are those of the seed.
record Lane(Client client, Weather weather, Story story, String vm, Random random, Sizes sizes) {}
