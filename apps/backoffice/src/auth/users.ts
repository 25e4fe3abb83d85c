/** Users: who they are, and whether a password is theirs. */
import { Inject, Injectable } from "@nestjs/common";
import { Data } from "../data/data.ts";
import type { Row } from "../data/tables.ts";
import type { Identity, Role } from "./identity.ts";
import { hashPassword, isPassword } from "./password.ts";

@Injectable()
export class Users {
  constructor(@Inject(Data) private readonly data: Data) {}

  /** Null for a wrong password and for nobody alike, after the same time. */
  async byPassword(email: string, password: string): Promise<Identity | null> {
    const user = await this.#byEmail(email);
    const isRight = await isPassword(password, user?.passwordHash ?? null);
    return isRight && user ? identityOfUser(user) : null;
  }

  /** False: the old one was wrong, or is another one by now. */
  async changePassword(email: string, change: { from: string; to: string }): Promise<boolean> {
    const user = await this.#byEmail(email);
    if (!user || !(await isPassword(change.from, user.passwordHash))) return false;
    const passwordHash = await hashPassword(change.to);
    // Hashing takes long: whoever was faster has the last word.
    const asRead = { id: user.id, passwordHash: user.passwordHash };
    return (await this.data.change("users", asRead, { passwordHash })) === 1;
  }

  /** Staff of all companies, and those of this one: whom a notification is for. */
  async staff(companyId: string | null): Promise<Identity[]> {
    const users = await this.data.find("users");
    return users
      .filter(({ role }) => role !== "viewer")
      .filter((user) => user.companyId === null || user.companyId === companyId)
      .map(identityOfUser);
  }

  async #byEmail(email: string): Promise<Row<"users"> | null> {
    const [user] = await this.data.find("users", { email: email.toLowerCase() });
    return user ?? null;
  }
}

function identityOfUser({ id, email, name, role, companyId }: Row<"users">): Identity {
  return { userId: id, email, name, role: role as Role, companyId };
}
