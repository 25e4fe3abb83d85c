/** JSON Web Tokens, HS256, with an end. Whatever is wrong with one, the answer is the same: not known. */
import { randomBytes } from "node:crypto";
import { Inject, Injectable } from "@nestjs/common";
import { jwtVerify, SignJWT } from "jose";
import { SETTINGS, type Settings } from "../config/settings.ts";
import { claims, type Identity } from "./identity.ts";

const ISSUER = "backoffice";

@Injectable()
export class AccessTokens {
  readonly expiresS: number;
  readonly #key: Uint8Array;

  constructor(@Inject(SETTINGS) { jwtSecret, jwtExpiresS }: Settings) {
    this.expiresS = jwtExpiresS;
    this.#key = new TextEncoder().encode(jwtSecret ?? randomBytes(32).toString("base64url"));
  }

  issue({ userId, ...about }: Identity): Promise<string> {
    return new SignJWT({ ...about })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(userId)
      .setIssuer(ISSUER)
      .setIssuedAt()
      .setExpirationTime(`${this.expiresS}s`)
      .sign(this.#key);
  }

  async read(token: string): Promise<Identity | null> {
    try {
      const rules = { issuer: ISSUER, algorithms: ["HS256"], requiredClaims: ["exp"] };
      const { payload } = await jwtVerify(token, this.#key, rules);
      const { sub: userId, ...rest } = claims.parse(payload);
      return { userId, ...rest };
    } catch {
      return null;
    }
  }
}
