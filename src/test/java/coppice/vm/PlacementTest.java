package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlacementTest {

    @Test
    void everyPlacementIsReadAsItWasStored() {
        var any = new AnyVm(Seed.random(PlacementTest.class));
        for (int n = 0; n < 500; n++) {
            var placement = any.placement();
            assertEquals(placement, Placement.fromStored(placement.stored()));
        }
    }

    @Test
    void aPlacementWithoutRulesGoesAnywhereAndIsNotStored() {
        assertFalse(Placement.ANYWHERE.forbids(Map.of("app", "web")));
        assertEquals(Optional.empty(), Placement.ANYWHERE.stored());
        assertEquals(Placement.ANYWHERE, Placement.fromStored(Optional.empty()));
    }

    @Test
    void aRuleForbidsWhatHasAllItsLabels() {
        var placement = new Placement(List.of(Map.of("app", "web", "tier", "1")));
        assertTrue(placement.forbids(Map.of("app", "web", "tier", "1")));
        assertTrue(placement.forbids(Map.of("app", "web", "tier", "1", "more", "x")));
        assertFalse(placement.forbids(Map.of("app", "web")));
        assertFalse(placement.forbids(Map.of("app", "web", "tier", "2")));
        assertFalse(placement.forbids(Map.of()));
    }

    @Test
    void oneRuleOfSeveralIsEnough() {
        var placement = new Placement(List.of(Map.of("app", "web"), Map.of("app", "db")));
        assertTrue(placement.forbids(Map.of("app", "db")));
        assertTrue(placement.forbids(Map.of("app", "web")));
        assertFalse(placement.forbids(Map.of("app", "cache")));
    }
}
