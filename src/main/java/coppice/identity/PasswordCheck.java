package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import java.time.Clock;
import java.util.Optional;

/// Tells who signs in with an email address and a password.
///
/// Whoever guesses is held up, by the address that is guessed for and by where it comes from, whether there is such a user or not. What is
/// answered, and after how long, does not tell either.
public final class PasswordCheck {
    private static final int FREE_OF_A_USER = 5;
    private static final int FREE_OF_A_SOURCE = 20;

    private final Users users;
    private final Passwords passwords;
    private final Guesses ofUsers;
    private final Guesses ofSources;

    public PasswordCheck(Users users, Passwords passwords, Clock clock) {
        this.users = users;
        this.passwords = passwords;
        this.ofUsers = new Guesses(FREE_OF_A_USER, clock);
        this.ofSources = new Guesses(FREE_OF_A_SOURCE, clock);
    }

    /// `ACCESS_DENIED` if there is no such user or it has another password; `RATE_LIMITED` after too many attempts; `UNAVAILABLE` when too
    /// many others wait, or the store cannot be asked.
    public User require(Email email, Secret password, Optional<Source> source) {
        source.ifPresent(it -> ofSources.take(it.text()));
        ofUsers.take(email.text());
        try {
            var user = checked(email, password);
            ofUsers.right(email.text());
            return user;
        } catch (Failure e) {
            if (e.code() == Code.UNAVAILABLE) {
                ofUsers.takeBack(email.text());
                source.ifPresent(it -> ofSources.takeBack(it.text()));
            }
            throw e;
        }
    }

    private User checked(Email email, Secret password) {
        var known = users.known(email);
        boolean isRight = passwords.isRight(known.map(Users.Known::password), password);
        if (!isRight || known.isEmpty()) {
            throw new Failure(
                    Code.ACCESS_DENIED, "the email address or the password is wrong; try again");
        }
        return known.get().user();
    }
}
