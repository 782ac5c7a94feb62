import coppice.json.JsonObject;
import java.io.IOException;

/// A VM of the server in one of its networks.
record ServerGuest(Api api, String vm, String vpc, String address) implements End {
    private static final int EXECUTABLE = 0755;

    /// @param vpc a private network
    static ServerGuest create(Api api, String image, String vpc) throws IOException {
        var vm = api.createVm(image, ",\"vpcs\":[{\"vpcId\":\"%s\"}]".formatted(vpc));
        var program = Flow.bytes();
        var guest = new ServerGuest(api, vm.requiredString("id"), vpc, address(vm));
        api.writeFile(
                guest.vm(),
                Flow.IN_A_GUEST + "&mode=" + EXECUTABLE,
                new Content(program, program.length));
        return guest;
    }

    private static String address(JsonObject vm) {
        return vm.requiredObjects("vpcs").getFirst().requiredString("ipv4");
    }

    void run(String command) throws IOException {
        api.exec(vm, command);
    }

    @Override
    public String flow(String arguments) throws IOException {
        return api.output(vm, Flow.IN_A_GUEST + " " + arguments);
    }

    void delete() throws IOException {
        api.delete("/v5/vms/" + vm);
    }
}
