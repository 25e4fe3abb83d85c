/** The one page of our own: people log in, then see the dashboard. It works without a script. */
import { Body, Controller, Get, Header, Inject, Post, Req, Res } from "@nestjs/common";
import { Logins, type WebRequest } from "../auth/logins.ts";
import { loginPage } from "./login-page.ts";

interface PageResponse {
  setHeader(name: string, value: string): void;
  status(code: number): this;
  redirect(code: number, url: string): void;
  send(text: string): void;
}

const CSP =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";

@Controller()
export class LoginController {
  constructor(@Inject(Logins) private readonly logins: Logins) {}

  @Get("login")
  @Header("content-type", "text/html; charset=utf-8")
  @Header("content-security-policy", CSP)
  page(): string {
    return loginPage(null);
  }

  @Post("login")
  async login(
    @Body() body: unknown,
    @Req() request: WebRequest,
    @Res() response: PageResponse,
  ): Promise<void> {
    const { email, password } = Object(body) as { readonly email?: unknown; password?: unknown };
    try {
      const given = { email: textOf(email), password: textOf(password) };
      await this.logins.logIn(given, request, response);
      response.redirect(303, "/");
    } catch (error) {
      const { status = 500, message } = error as { readonly status?: number; message: string };
      if (status >= 500) throw error;
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.setHeader("content-security-policy", CSP);
      response.status(status).send(loginPage(message));
    }
  }

  @Get("logout")
  logout(@Req() request: WebRequest, @Res() response: PageResponse): void {
    this.logins.logOut(request, response);
    response.redirect(303, "/login");
  }
}

/** Forms can say objects and lists, too; and PostgreSQL takes no text with a NUL. Neither is anybody's. */
function textOf(given: unknown): string {
  return typeof given === "string" && !given.includes("\0") ? given : "";
}
