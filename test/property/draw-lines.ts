/** Holds, caps, and the queues a lease asks for. */
import type { HoldChange, LimitChange } from "../../packages/holdfast/src/core/line.ts";
import type { Draw } from "./draw.ts";
import type { Arbitrary } from "./fast-check.ts";
import type { Of } from "./operation.ts";
import { DURATIONS_MS } from "./small-world.ts";

type Patch = Omit<LimitChange, "queue" | "group">;

/** What tightens is as frequent as what clears: a walk that only ever stands still finds nothing. */
const QUEUE_PATCHES: readonly Patch[] = [
  { maxActive: 1 },
  { maxActive: 2 },
  { maxActive: null },
  { maxActivePerGroup: 1 },
  { maxActivePerGroup: null },
  { maxActive: null, maxActivePerGroup: null },
  { maxActive: 2, maxActivePerGroup: 0 },
  { maxActive: 0, maxWaiting: 0 },
  { maxWaiting: 3 },
  { maxWaiting: null },
  { maxActive: null, maxActivePerGroup: null, maxWaiting: null },
  {},
];
const LINE_PATCHES: readonly Patch[] = [
  { maxActive: 1 },
  { maxActive: null },
  { maxActive: 2, weight: 3 },
  { maxActive: 0 },
  { maxActive: null, weight: null },
  { weight: 2 },
  { weight: null },
  {},
];

type Taken = Of<"lease">["queues"];

const TAKEN_QUEUES: readonly Taken[] = [
  [{ queue: "mail", limit: 50 }],
  [{ queue: "sms", limit: 50 }],
  [{ queue: "mail", limit: 1 }],
  [
    { queue: "mail", limit: 50 },
    { queue: "sms", limit: 50 },
  ],
  [
    { queue: "sms", limit: 1, weight: 1 },
    { queue: "mail", limit: 2, weight: 3 },
  ],
  [
    { queue: "mail", limit: 0 },
    { queue: "sms", limit: 2 },
    { queue: "nowhere", limit: 2 },
  ],
];

export function drawTakenQueues(draw: Draw): Arbitrary<Taken> {
  return draw.fromLists(TAKEN_QUEUES);
}

export function drawHold(draw: Draw): Arbitrary<HoldChange> {
  const hold = draw.record({
    forMs: draw.from([null, ...DURATIONS_MS]),
    reason: draw.from(["provider down"]),
    by: draw.person,
  });
  return draw.record<HoldChange>({
    queue: draw.queue,
    group: draw.sometimes(draw.group),
    owner: draw.from(["pause", "breaker:x"]),
    hold: draw.sometimes(hold),
  });
}

export function drawLimit(draw: Draw): Arbitrary<LimitChange> {
  const { fc, queue } = draw;
  const ofQueue = QUEUE_PATCHES.map((patch) =>
    draw.record<LimitChange>({ queue, group: fc.constant(null), ...constants(draw, patch) }),
  );
  const ofLine = LINE_PATCHES.map((patch) =>
    draw.record<LimitChange>({ queue, group: draw.group, ...constants(draw, patch) }),
  );
  const all = [...ofQueue, ...ofLine].map((arbitrary) => ({ weight: 1, arbitrary }));
  return draw.choice<LimitChange>(...all);
}

/** A patch has what it has, and no more: absent and null are two things. */
function constants(draw: Draw, patch: Patch): { [K in keyof Patch]: Arbitrary<Patch[K]> } {
  const parts = Object.entries(patch).map(([name, part]) => [name, draw.fc.constant(part)]);
  return Object.fromEntries(parts) as { [K in keyof Patch]: Arbitrary<Patch[K]> };
}
