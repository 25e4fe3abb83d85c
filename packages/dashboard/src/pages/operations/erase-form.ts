/** Erases a tenant: everything of one group, for good. */
import { api } from "../../api/client.ts";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href } from "../../state/router.ts";

export async function eraseByForm(): Promise<void> {
  const answer = await askFirst({
    title: "Erase a tenant",
    body: "Jobs, failures and locks of this group go for good, by an operation that can be watched. What runs now is asked to stop first.",
    ...{ verb: "Erase it", isDestructive: true, reason: "required" },
    fields: [{ name: "group", label: "Group", isRequired: true }],
  });
  if (answer === null) return;
  const group = answer.fields["group"] ?? "";
  await act(
    () => api.operations.erase({ group, reason: answer.reason ?? "" }),
    `The erasure of ${group} has begun.`,
    ({ id }) => ({ href: href(["operations", id]), text: "Watch it" }),
  );
}
