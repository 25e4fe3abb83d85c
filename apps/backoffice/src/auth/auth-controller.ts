/** Login for programs and for browsers, and a new password. */
import {
  Body,
  ConflictException,
  Controller,
  Get,
  HttpCode,
  Inject,
  Post,
  Req,
  Res,
  UseGuards,
} from "@nestjs/common";
import { z } from "zod";
import { zodBody } from "../config/zod-body.ts";
import { Authenticate, identityOf } from "./guards.ts";
import { Logins, type WebRequest, type WebResponse } from "./logins.ts";
import { MOST_PASSWORD } from "./password.ts";
import { Users } from "./users.ts";

const login = z.strictObject({
  email: z.string().min(1).max(254),
  password: z.string().min(1).max(MOST_PASSWORD),
});
const newPassword = z.strictObject({
  current: z.string().min(1).max(MOST_PASSWORD),
  next: z.string().min(12).max(MOST_PASSWORD),
});

@Controller("api/auth")
export class AuthController {
  constructor(
    @Inject(Users) private readonly users: Users,
    @Inject(Logins) private readonly logins: Logins,
  ) {}

  @Post("login")
  @HttpCode(200)
  async login(
    @Body(zodBody(login)) { email, password }: z.infer<typeof login>,
    @Req() request: WebRequest,
    @Res({ passthrough: true }) response: WebResponse,
  ) {
    return this.logins.logIn({ email, password }, request, response);
  }

  @Post("logout")
  @HttpCode(200)
  logout(@Req() request: WebRequest, @Res({ passthrough: true }) response: WebResponse) {
    this.logins.logOut(request, response);
    return { loggedOut: true };
  }

  @Get("me")
  @UseGuards(Authenticate)
  me(@Req() request: WebRequest) {
    return identityOf(request);
  }

  @Post("password")
  @HttpCode(200)
  @UseGuards(Authenticate)
  async password(
    @Body(zodBody(newPassword)) { current, next }: z.infer<typeof newPassword>,
    @Req() request: WebRequest,
    @Res({ passthrough: true }) response: WebResponse,
  ) {
    const { email } = identityOf(request);
    await this.logins.prove({ email, password: current }, request, response);
    if (await this.users.changePassword(email, { from: current, to: next }))
      return { changed: true };
    throw new ConflictException("the password was changed meanwhile: log in with the new one");
  }
}
