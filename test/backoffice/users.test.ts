/** Passwords of the back office, when two change one at once. */
import "reflect-metadata";
import { expect, it } from "vitest";
import { hashPassword } from "../../apps/backoffice/src/auth/password.ts";
import { Users } from "../../apps/backoffice/src/auth/users.ts";
import { SqliteData } from "../../apps/backoffice/src/data/sqlite-data.ts";

it("of two who change a password at once, one is told that it is changed, and it is theirs", async () => {
  const data = new SqliteData(":memory:");
  await data.migrate();
  const email = "ada@example.com";
  await data.add("users", [
    {
      ...{ id: "U-1", email, name: "Ada", role: "admin", createdAt: "2026-11-18T12:00:00Z" },
      passwordHash: await hashPassword("the first of them"),
    },
  ]);
  const users = new Users(data);
  const wanted = ["the second of them", "the third of them"];
  const changed = await Promise.all(
    wanted.map((to) => users.changePassword(email, { from: "the first of them", to })),
  );
  expect(changed.filter(Boolean)).toHaveLength(1);
  const winner = wanted[changed.indexOf(true)] ?? "";
  expect(await users.byPassword(email, winner)).toMatchObject({ email });
  await data.close();
});
