/** `authenticate`, then a role: `@UseGuards(Authenticate, RequireAdmin)`. A company in the path is checked with both. */
import {
  ForbiddenException,
  Inject,
  Injectable,
  NotFoundException,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from "@nestjs/common";
import { refuseForeignPage } from "./foreign-page.ts";
import { isAtLeast, maySee, type IdentifiedRequest, type Identity, type Role } from "./identity.ts";
import { cookieOf } from "./session-cookie.ts";
import { AccessTokens } from "./tokens.ts";

/** Leaves on the request who calls, if that is known, and refuses nobody: what follows decides. */
@Injectable()
export class Identify implements CanActivate {
  constructor(@Inject(AccessTokens) private readonly tokens: AccessTokens) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const token = bearerOf(request) ?? cookieOf(request.headers["cookie"]);
    const identity = token === null ? null : await this.tokens.read(token);
    if (identity) request.identity = identity;
    return true;
  }
}

@Injectable()
export class Authenticate implements CanActivate {
  readonly #identify: Identify;

  constructor(@Inject(AccessTokens) tokens: AccessTokens) {
    this.#identify = new Identify(tokens);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.#identify.canActivate(context);
    const { identity, params, headers } = requestOf(context);
    if (!identity) {
      throw new UnauthorizedException("log in first: POST /api/auth/login gives a token");
    }
    refuseForeignPage(headers);
    // No database has an id with a NUL, and PostgreSQL would not even look for it.
    if (Object.values(params).some((param) => param.includes("\0"))) {
      throw new NotFoundException("there is nothing of this id: no id has a NUL in it");
    }
    // The same answer as for a company that is not there.
    const { companyId } = params;
    if (companyId !== undefined && !maySee(identity, companyId)) throw noSuchCompany();
    return true;
  }
}

abstract class RequireRole implements CanActivate {
  protected abstract readonly role: Role;

  canActivate(context: ExecutionContext): boolean {
    const { identity } = requestOf(context);
    if (identity && isAtLeast(identity.role, this.role)) return true;
    throw new ForbiddenException(
      `this needs the role ${this.role}; yours is ${identity?.role ?? "none"}`,
    );
  }
}

@Injectable()
export class RequireStaff extends RequireRole {
  protected readonly role = "operator";
}

@Injectable()
export class RequireAdmin extends RequireRole {
  protected readonly role = "admin";
}

/** Of no single company: what concerns all of them. */
@Injectable()
export class RequireAllCompanies implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (requestOf(context).identity?.companyId === null) return true;
    throw new ForbiddenException("this is for staff of all companies");
  }
}

export function noSuchCompany(): NotFoundException {
  return new NotFoundException("there is no such company, or it is not yours");
}

export function identityOf(request: IdentifiedRequest): Identity {
  if (request.identity) return request.identity;
  throw new UnauthorizedException("log in first: POST /api/auth/login gives a token");
}

function bearerOf({ headers }: IdentifiedRequest): string | null {
  const { authorization } = headers;
  if (typeof authorization !== "string") return null;
  // A header that is there and wrong does not fall back to a cookie.
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
}

function requestOf(context: ExecutionContext): IdentifiedRequest {
  return context.switchToHttp().getRequest<IdentifiedRequest>();
}
