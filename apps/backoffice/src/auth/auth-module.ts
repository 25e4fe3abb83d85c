/** Users, tokens and guards for every module. */
import { Global, Module } from "@nestjs/common";
import { AuthController } from "./auth-controller.ts";
import { Authenticate, Identify } from "./guards.ts";
import { Logins } from "./logins.ts";
import { AccessTokens } from "./tokens.ts";
import { Users } from "./users.ts";

@Global()
@Module({
  controllers: [AuthController],
  providers: [AccessTokens, Users, Logins, Identify, Authenticate],
  exports: [AccessTokens, Users, Logins, Identify, Authenticate],
})
export class AuthModule {}
