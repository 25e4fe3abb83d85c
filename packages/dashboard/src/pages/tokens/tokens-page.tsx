/** Who may come in: tokens with their roles and queues. A secret is shown once. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Token } from "../../api/types.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Tag, Time } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { currentTime } from "../../state/clock.ts";
import { copyText } from "../../state/copy.ts";
import { askUntilDone } from "../../state/ask-until-done.ts";
import { askFirst, type Question } from "../../state/questions.ts";
import { useMay } from "../../state/session.ts";
import { tell } from "../../state/toasts.ts";
import { useLoad } from "../../state/use-load.ts";
import { parseDuration } from "../../text/times.ts";
import type { PageProps } from "../pages.ts";

export function TokensPage(_: PageProps) {
  const mayWrite = useMay("admin");
  const [secret, setSecret] = useState<string | null>(null);
  const tokens = useLoad("tokens", (signal) => api.tokens.list(signal));
  const create = async () => {
    const made = await createByForm();
    if (made === null) return;
    setSecret(made.secret);
    tokens.reload();
  };
  return (
    <>
      <div class="say">
        <h1>Tokens</h1>
        <p class="soft">A viewer looks, an operator steers, an admin may also remove and reveal.</p>
        <span class="sp" />
        {mayWrite && (
          <button type="button" class="btn p" onClick={() => void create()}>
            New token
          </button>
        )}
      </div>
      {secret !== null && (
        <div class="why" role="status">
          <b>Copy it now: it is shown this once.</b>
          <div class="row">
            <code class="any">{secret}</code>
            <button
              type="button"
              class="btn small"
              onClick={() => void copyText(secret, "The token")}
            >
              Copy
            </button>
            <button type="button" class="btn small" onClick={() => setSecret(null)}>
              I have it
            </button>
          </div>
        </div>
      )}
      <Panel title="Who may come in?">
        <Listing
          of={tokens}
          caption="Tokens"
          columns={mayWrite ? [...COLUMNS, removing(tokens.reload)] : COLUMNS}
          keyOf={({ id }) => id}
          none="There are no tokens in the store."
          hint="The one you came with is given to the server by its own configuration."
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  {
    title: "Token",
    cell: ({ id, name }) => (
      <>
        <span class="main any">{name === "" ? "without a name" : name}</span>
        <div class="sub mono">{id}</div>
      </>
    ),
  },
  {
    title: "Role",
    cell: ({ role, queues }) => (
      <>
        <Tag>{role}</Tag>
        <div class="sub any">{queues === null ? "all queues" : queues.join(", ")}</div>
      </>
    ),
  },
  {
    title: "Made",
    isNumber: true,
    isWide: true,
    cell: ({ createdAt, createdBy }) => (
      <>
        <Time at={createdAt} />
        <div class="sub any">by {createdBy}</div>
      </>
    ),
  },
  {
    title: "Ends",
    isNumber: true,
    cell: ({ expiresAt }) => (expiresAt === null ? "never" : <Time at={expiresAt} />),
  },
];

function removing(reload: () => void): Column<Token> {
  return {
    title: "",
    isNumber: true,
    cell: (token) => (
      <button type="button" class="btn small danger" onClick={() => void remove(token, reload)}>
        Remove
      </button>
    ),
  };
}

async function createByForm(): Promise<{ readonly secret: string } | null> {
  const question: Question = {
    title: "New token",
    body: "Its secret is shown once, after this.",
    ...{ verb: "Make it", reason: "none" },
    fields: [
      { name: "name", label: "For whom, or what", isRequired: true },
      {
        ...{ name: "role", label: "Role", kind: "select", value: "viewer" },
        options: ["viewer", "operator", "admin"].map((role) => ({ value: role, text: role })),
      },
      { name: "queues", label: "Queues, with blanks between them (empty: all)" },
      {
        ...{ name: "for", label: "Ends after (empty: never)", hint: "30 days, 12 h" },
        check: (text) => ((parseDuration(text) ?? 0) > 0 ? null : "write 30 days or 12 h"),
      },
    ],
  };
  const made = await askUntilDone(question, ({ fields }) => api.tokens.create(bodyOf(fields)));
  if (made !== null) tell(`The token for ${made.token.name} is made.`);
  return made;
}

function bodyOf(fields: Readonly<Record<string, string>>) {
  const { name = "", role = "viewer", queues = "", for: lasting = "" } = fields;
  const own = queues.split(/[\s,]+/).filter(Boolean);
  const ms = parseDuration(lasting);
  return {
    ...{ name, role },
    ...(own.length > 0 && { queues: own }),
    ...(ms !== null && { expiresAt: new Date(currentTime() + ms).toISOString() }),
  };
}

async function remove({ id, name, role }: Token, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Remove the token ${name === "" ? id : `of ${name}`}?`,
    body: `Whatever uses it is refused from now on, and its sessions end. Its role is ${role}.`,
    ...{ verb: "Remove it", isDestructive: true, reason: "none" },
  });
  if (answer === null) return;
  if (await act(() => api.tokens.remove(id), "It is removed.")) reload();
}
