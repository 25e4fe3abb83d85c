/** JSON Web Tokens of an identity provider, with a claim that names the role. */
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from "jose";
import { isRole, type Caller } from "./caller.ts";

export interface JwtOptions {
  /** For HS256: at least 32 characters. */
  readonly secret?: string | undefined;
  /** Where the provider's public keys are. */
  readonly jwksUrl?: string | undefined;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  /** Default `role`. */
  readonly roleClaim?: string | undefined;
  /** A list of queues; absent in a token: all. Default `queues`. */
  readonly queuesClaim?: string | undefined;
}

const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export type JwtCheck = (token: string) => Promise<Caller | null>;

export function isJwt(token: string): boolean {
  return FORM.test(token);
}

export function jwtCheck(options: JwtOptions): JwtCheck {
  const { secret, jwksUrl, issuer, audience } = options;
  const rules = {
    requiredClaims: ["exp"],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  const key = secret === undefined ? null : new TextEncoder().encode(secret);
  const keys = jwksUrl === undefined ? null : createRemoteJWKSet(new URL(jwksUrl));
  return async (token) => {
    try {
      const { payload } = keys
        ? await jwtVerify(token, keys, { ...rules, algorithms: PUBLIC })
        : await jwtVerify(token, key as Uint8Array, { ...rules, algorithms: ["HS256"] });
      return callerOf(payload, options);
    } catch {
      // Expired, forged, of another issuer, keys that cannot be had: the same answer.
      return null;
    }
  };
}

/** Never HS256 with a public key. */
const PUBLIC = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

function callerOf(payload: JWTPayload, options: JwtOptions): Caller | null {
  const role = payload[options.roleClaim ?? "role"];
  const queues = payload[options.queuesClaim ?? "queues"];
  if (!isRole(role) || typeof payload.sub !== "string") return null;
  const isScope = Array.isArray(queues) && queues.every((one) => typeof one === "string");
  // A scope that cannot be read must not become none.
  if (queues !== undefined && !isScope) return null;
  const by = `user ${payload.sub}`.slice(0, 150);
  // It has an end: without one it was refused.
  const goodForMs = (payload.exp ?? 0) * 1_000 - Date.now();
  return {
    ...{ by, role, key: by, via: "jwt", tokenId: null, goodForMs },
    queues: isScope ? new Set(queues as string[]) : null,
  };
}
