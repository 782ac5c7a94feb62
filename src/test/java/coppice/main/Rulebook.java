package coppice.main;

import coppice.json.JsonObject;
import coppice.main.GuestFlow.Vm;
import coppice.network.ReadRules;
import coppice.network.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// The rules of accounts, which change at random over HTTP.
final class Rulebook {
    private static final int MOST = 9;

    private final Random random;
    private final Map<Client, List<Rule>> rules = new HashMap<>();

    Rulebook(Random random) {
        this.random = random;
    }

    List<Rule> of(Client account) {
        return rules.get(account);
    }

    /// Some go, and others come.
    void change(Client account, List<Vm> vms) {
        for (var rule : read(account)) {
            if (random.nextInt(3) == 0) {
                account.delete("/v5/firewall/rules/" + rule.requiredString("id")).expect(204);
            }
        }
        var own = vms.stream().filter(vm -> vm.owner() == account).toList();
        var addresses = vms.stream().flatMap(vm -> vm.addresses().stream()).toList();
        for (int left = MOST - read(account).size(); left > 0; left--) {
            var rule =
                    "{\"action\":\"allow\",\"source\":{%s},\"destination\":{%s%s}}"
                            .formatted(end(own, addresses), end(own, addresses), narrowed());
            account.post("/v5/firewall/rules", rule).expect(200);
        }
        rules.put(account, ReadRules.of(read(account)));
    }

    private static List<JsonObject> read(Client account) {
        return account.get("/v5/firewall/rules").expect(200).requiredObjects("rules");
    }

    private String end(List<Vm> own, List<String> addresses) {
        var vm = any(own);
        var ends =
                new ArrayList<>(List.of("\"vmId\":\"%s\"".formatted(vm.id()), "\"public\":true"));
        vm.vpcs().forEach(vpc -> ends.add("\"vpcId\":\"%s\"".formatted(vpc)));
        var address = any(addresses);
        ends.add("\"cidr\":\"%s/%d\"".formatted(address, address.contains(":") ? 128 : 32));
        ends.add("\"cidr\":\"%s\"".formatted(any(List.of("0.0.0.0/0", "::/0", "10.20.30.0/24"))));
        return any(ends);
    }

    private String narrowed() {
        return switch (random.nextInt(6)) {
            case 0 -> ",\"protocol\":\"tcp\",\"port\":80";
            case 1 -> ",\"protocol\":\"tcp\",\"port\":443";
            case 2 -> ",\"protocol\":\"%s\"".formatted(any(List.of("tcp", "udp", "icmp")));
            default -> "";
        };
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
