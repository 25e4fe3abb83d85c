/** Users of the sample whose password is still the one that everybody knows. */
import { isPassword } from "../auth/password.ts";
import type { Data } from "../data/data.ts";
import { SAMPLE_USERS, type SampleUser } from "../data/seed.ts";

export async function knownSampleUsers(data: Data): Promise<readonly SampleUser[]> {
  const checked = await Promise.all(
    SAMPLE_USERS.map(async (user) => {
      const [found] = await data.find("users", { email: user.email });
      return found && (await isPassword(user.password, found.passwordHash)) ? [user] : [];
    }),
  );
  return checked.flat();
}
