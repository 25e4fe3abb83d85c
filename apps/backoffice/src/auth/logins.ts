/** A login by password, for the API and for the page: whoever guesses has to wait. */
import { HttpException, Inject, Injectable, UnauthorizedException } from "@nestjs/common";
import { refuseForeignPage } from "./foreign-page.ts";
import type { IdentifiedRequest, Identity } from "./identity.ts";
import { MOST_PASSWORD } from "./password.ts";
import { sessionCookie } from "./session-cookie.ts";
import { AccessTokens } from "./tokens.ts";
import { Users } from "./users.ts";
import { WrongPasswords } from "./wrong-passwords.ts";

/** The part of Express that is used here. */
export interface WebRequest extends IdentifiedRequest {
  readonly ip?: string;
  readonly secure?: boolean;
}
export interface WebResponse {
  setHeader(name: string, value: string): void;
}

interface Given {
  readonly email: string;
  readonly password: string;
}

@Injectable()
export class Logins {
  readonly #wrong = new WrongPasswords();

  constructor(
    @Inject(Users) private readonly users: Users,
    @Inject(AccessTokens) private readonly tokens: AccessTokens,
  ) {}

  /** A token for programs, and the same as a cookie for browsers. */
  async logIn(given: Given, request: WebRequest, response: WebResponse) {
    // Else a page elsewhere could log a browser in as somebody it does not know.
    refuseForeignPage(request.headers);
    const user = await this.prove(given, request, response);
    const token = await this.tokens.issue(user);
    const { expiresS } = this.tokens;
    response.setHeader("set-cookie", sessionCookie(token, expiresS, request.secure === true));
    return { token, expiresInS: expiresS, user };
  }

  logOut(request: WebRequest, response: WebResponse): void {
    response.setHeader("set-cookie", sessionCookie(null, 0, request.secure === true));
  }

  async prove(given: Given, request: WebRequest, response: WebResponse): Promise<Identity> {
    const account = given.email.slice(0, 254).toLowerCase();
    const address = request.ip ?? "unknown";
    const waitMs = this.#wrong.begin(account, address);
    if (waitMs !== null) {
      response.setHeader("retry-after", String(Math.max(1, Math.ceil(waitMs / 1_000))));
      throw new HttpException("too many wrong passwords: wait a minute", 429);
    }
    const user = await this.users.byPassword(account, given.password.slice(0, MOST_PASSWORD));
    if (user === null) throw new UnauthorizedException("e-mail or password is wrong");
    this.#wrong.right(account, address);
    return user;
  }
}
