package coppice.api.signin;

import static coppice.api.Method.GET;
import static coppice.api.Method.POST;

import coppice.api.Actor;
import coppice.api.Call;
import coppice.api.Input;
import coppice.api.Output;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.identity.Email;
import coppice.identity.PasswordCheck;
import coppice.identity.SignIns;
import coppice.json.Schema;
import java.util.List;
import java.util.Optional;

/// The page on which somebody confirms a sign-in that a program of theirs began, by email address and password. It works without scripts
/// and cookies: who sends the form proves in the same request who it is, so no other site can have it sent in somebody's name.
public final class ConfirmPage {
    private static final String PATH = "/handler/cli-auth-confirm";
    private static final String CODE = "login_code";
    private static final String TAG = "Sign-in";

    private final SignIns signIns;
    private final PasswordCheck check;
    private final Sources sources;

    public ConfirmPage(SignIns signIns, PasswordCheck check, Sources sources) {
        this.signIns = signIns;
        this.check = check;
        this.sources = sources;
    }

    public List<Route> routes() {
        return List.of(
                page(Route.open(GET, PATH, "showSignIn", this::show))
                        .about(TAG, "The page on which a sign-in is confirmed"),
                page(Route.open(POST, PATH, "confirmSignIn", this::confirm))
                        .about(TAG, "Confirm a sign-in: what the form of that page sends")
                        .takes(new Input.Form(SignInSchemas.CONFIRM))
                        .fails(Code.ACCESS_DENIED, "the email address or the password is wrong")
                        .fails(Code.PAYLOAD_TOO_LARGE, "the form is too large")
                        .fails(Code.UNSUPPORTED_MEDIA_TYPE, "it is no form")
                        .fails(Code.RATE_LIMITED, "too many attempts"));
    }

    private static Route page(Route route) {
        return route.query(CODE, Schema.string(), "Of the sign-in.")
                .returns(new Output.Html())
                .fails(Code.BAD_REQUEST, "malformed or invalid input")
                .fails(Code.NOT_FOUND, "the sign-in is over or confirmed, or never was");
    }

    private Reply show(Call call) {
        return shown(
                () -> Reply.html(ConfirmHtml.form(waiting(call), "", Optional.empty())),
                ConfirmHtml::failure);
    }

    private Reply confirm(Call call) {
        return shown(() -> asked(call, waiting(call)), ConfirmHtml::failure);
    }

    private Reply asked(Call call, SignIns.Waiting signIn) {
        var form = new FormBody();
        return shown(
                () -> {
                    form.read(call);
                    var email = Email.parse("the email address", form.field("email"));
                    var password = new Secret(form.field("password"));
                    var user = check.require(email, password, sources.of(call));
                    call.madeBy(Actor.of(user.id()));
                    signIns.confirm(code(call), user.id());
                    return Reply.html(ConfirmHtml.done(user));
                },
                why ->
                        why.code() == Code.NOT_FOUND
                                ? ConfirmHtml.failure(why)
                                : ConfirmHtml.form(signIn, form.shown("email"), Optional.of(why)));
    }

    private SignIns.Waiting waiting(Call call) {
        return signIns.waiting(code(call))
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "this sign-in is over, was confirmed already, or never was; begin anew"));
    }

    private static String code(Call call) {
        return call.query().text(CODE).orElse("");
    }

    private interface Page {
        Reply reply();
    }

    private interface FailurePage {
        String text(Failure why);
    }

    private static Reply shown(Page page, FailurePage otherwise) {
        try {
            return ConfirmHtml.guarded(page.reply());
        } catch (Failure why) {
            if (why.code() == Code.INTERNAL_ERROR) {
                throw why;
            }
            return ConfirmHtml.guarded(Reply.html(why, otherwise.text(why)));
        }
    }
}
