/** What every child process of the harness needs, whatever its part. */
import { Holdfast, type Logger } from "../../packages/holdfast/src/index.ts";
import { chaosStore, type ChaosStoreName, type ChaosTransactions } from "./chaos-store.ts";
import { routeConnections, type Routes } from "./route-connections.ts";
import { Witness } from "./witness.ts";
import { witnessedStore } from "./witnessed-store.ts";

/** Handed over as JSON in the only argument. */
export interface ChildOptions {
  readonly name: string;
  /** A producer writes on in the file of the one it replaces. */
  readonly file: string;
  readonly store: ChaosStoreName;
  readonly url: string;
  readonly routes: Routes;
  /** Where the witnesses are. */
  readonly folder: string;
  readonly seed: number;
  readonly leaseMs: number;
  readonly unitMs: number;
  /** Of a hundred jobs so many settle in a transaction. */
  readonly transactions: number;
}

/** Enough to find the place. */
const STACK_LINES = 4;

export interface Child<Options extends ChildOptions> {
  readonly options: Options;
  readonly witness: Witness;
  readonly hf: Holdfast;
  /** Null: no job of this run settles in one. */
  readonly transactions: ChaosTransactions | null;
}

export async function beginChild<Options extends ChildOptions>(): Promise<Child<Options>> {
  const options = JSON.parse(process.argv[2]!) as Options;
  // Ctrl-C reaches the whole group: the harness decides what becomes of its children.
  process.on("SIGINT", () => {});
  // The harness is gone: nobody would end this process any more.
  process.stdin.on("end", () => process.exit(3)).resume();
  const witness = new Witness(options.folder, { by: options.name, file: options.file });
  routeConnections(options.routes);
  const kind = await chaosStore(options.store);
  const hasTransactions = options.transactions > 0;
  const transactions = (hasTransactions && kind.openWithTransactions?.(options.url)) || null;
  const store = transactions?.store ?? kind.open(options.url);
  const hf = new Holdfast({
    ...{ store: witnessedStore(store, witness), logger: toWitness(witness) },
    // Jobs fail on purpose here: an error line about that would be taken for a fault of the process.
    alerts: { spike: null, dead: false },
  });
  return { options, witness, hf, transactions };
}

/** Tells the harness that this process does its part now. */
export function tellUp(): void {
  process.stdout.write("up\n");
}

function toWitness(witness: Witness): Logger {
  const say = (level: "warn" | "error") => (message: string, details?: object) => {
    const { error } = (details ?? {}) as { readonly error?: unknown };
    const stack = error instanceof Error ? (error.stack ?? error.message) : "";
    const cause = stack.split("\n").slice(0, STACK_LINES).join("\n");
    const text = error === undefined ? message : `${message}: ${cause}`;
    witness.saw({ what: "log", level, text });
  };
  return { debug() {}, info() {}, warn: say("warn"), error: say("error") };
}
