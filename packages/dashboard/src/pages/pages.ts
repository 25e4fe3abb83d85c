/** The table of pages: a page is one folder and one line here. */
import type { ComponentType } from "preact";
import type { Me, Overview, Role } from "../api/types.ts";
import { may } from "../state/session.ts";
import { shortCount } from "../text/numbers.ts";
import { AuditPage } from "./audit/audit-page.tsx";
import { DeadLettersPage } from "./dead-letters/dead-letters-page.tsx";
import { DoctorPage } from "./doctor/doctor-page.tsx";
import { FailuresPage } from "./failures/failures-page.tsx";
import { GatesPage } from "./gates/gates-page.tsx";
import { ImportsPage } from "./imports/imports-page.tsx";
import { JobsPage } from "./jobs/jobs-page.tsx";
import { LocksPage } from "./locks/locks-page.tsx";
import { OperationsPage } from "./operations/operations-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { QueuesPage } from "./queues/queues-page.tsx";
import { SchedulesPage } from "./schedules/schedules-page.tsx";
import { SimulationsPage } from "./simulations/simulations-page.tsx";
import { TokensPage } from "./tokens/tokens-page.tsx";
import { WorkersPage } from "./workers/workers-page.tsx";

export interface PageProps {
  /** Behind the page's own name: `["019a…"]` of `#/jobs/019a…`. */
  readonly path: readonly string[];
}

export interface PageCount {
  readonly text: string;
  readonly tone?: "warn" | "bad";
}

export interface PageEntry {
  /** `jobs`: it is at `#/jobs`. */
  readonly path: string;
  readonly title: string;
  /** After `g`. */
  readonly key: string;
  readonly role: Role;
  readonly component: ComponentType<PageProps>;
  /** What stands beside its name. */
  readonly count?: (overview: Overview) => PageCount | null;
  /** Below the line: looked at less often. */
  readonly isSecond?: boolean;
  /** About everything: a token of some queues does not see it. */
  readonly isWhole?: boolean;
  /** Only where the server has this mounted. */
  readonly mount?: string;
}

const some = (value: number, tone?: PageCount["tone"]): PageCount | null =>
  value === 0 ? null : { text: shortCount(value), ...(tone && { tone }) };

function openGates(gates: Overview["gates"]): PageCount | null {
  const open = gates.filter(({ state }) => state === "open").length;
  return open === 0 ? null : { text: `${open} open`, tone: "warn" };
}

const viewer = { role: "viewer" } as const;

export const PAGES: readonly PageEntry[] = [
  { ...viewer, path: "overview", title: "Overview", key: "o", component: OverviewPage },
  {
    ...{ ...viewer, path: "dead-letters", title: "Dead letters", key: "d" },
    ...{ component: DeadLettersPage, count: ({ totals }) => some(totals.dead, "bad") },
  },
  {
    ...{ ...viewer, path: "jobs", title: "Jobs", key: "j", component: JobsPage },
    count: ({ totals }) => some(totals.ready + totals.delayed + totals.processing),
  },
  {
    ...{ ...viewer, path: "queues", title: "Queues", key: "q", component: QueuesPage },
    count: ({ queueCount }) => some(queueCount),
  },
  {
    ...{ ...viewer, path: "operations", title: "Operations", key: "p" },
    ...{ component: OperationsPage, count: ({ operations }) => some(operations.length) },
  },
  { ...viewer, path: "schedules", title: "Schedules", key: "s", component: SchedulesPage },
  {
    ...{ ...viewer, path: "gates", title: "Gates", key: "t", component: GatesPage },
    ...{ isWhole: true, count: ({ gates }) => openGates(gates) },
  },
  {
    ...{ ...viewer, path: "workers", title: "Workers", key: "w", component: WorkersPage },
    count: ({ workers }) => some(workers.count),
  },
  {
    ...{ ...viewer, path: "imports", title: "Imports", key: "i", component: ImportsPage },
    mount: "imports",
  },
  {
    ...{ ...viewer, path: "simulations", title: "Simulations", key: "m" },
    ...{ component: SimulationsPage, isWhole: true, mount: "pacing" },
  },
  {
    ...{ ...viewer, path: "failures", title: "Failures", key: "f", component: FailuresPage },
    isSecond: true,
  },
  {
    ...{ ...viewer, path: "locks", title: "Locks", key: "l", component: LocksPage },
    isSecond: true,
  },
  {
    ...{ ...viewer, path: "doctor", title: "Doctor", key: "h", component: DoctorPage },
    ...{ isSecond: true, isWhole: true },
  },
  {
    ...{ role: "admin", path: "audit", title: "Audit", key: "a", component: AuditPage },
    ...{ isSecond: true, isWhole: true },
  },
  {
    ...{ role: "admin", path: "tokens", title: "Tokens", key: "k", component: TokensPage },
    ...{ isSecond: true, isWhole: true },
  },
];

export function shownPages(me: Me): readonly PageEntry[] {
  return PAGES.filter(
    (page) =>
      may({ ...me, isReadOnly: false }, page.role) &&
      (me.queues === null || !page.isWhole) &&
      isMounted(page, me),
  );
}

export function isMounted({ mount }: PageEntry, { mounts }: Me): boolean {
  return mount === undefined || mounts.includes(mount);
}

export function findPage(path: readonly string[]): PageEntry | null {
  const name = path[0] ?? "overview";
  return PAGES.find((one) => one.path === name) ?? null;
}
