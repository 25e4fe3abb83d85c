/**
 * The overview, live: by one stream of events, by asking every few seconds where a stream does not come through.
 * A hidden tab and a frozen page listen to nothing.
 */
import { api, pathOf } from "../api/client.ts";
import type { Operation, Overview } from "../api/types.ts";
import { cell, useCell } from "./cell.ts";
import { currentTime, noteServerTime } from "./clock.ts";
import { Samples } from "./samples.ts";
import { isFrozen, isVisible } from "./visible.ts";

const POLL_MS = 4_000;
/** A stream that says nothing for so long does not come through. */
const SILENT_MS = 8_000;
/** After so long a stream is tried again. */
const RETRY_MS = 60_000;

export interface Live {
  /** What is shown in the header. */
  readonly state: "connecting" | "live" | "polling" | "hidden" | "frozen" | "unreachable";
  readonly overview: Overview | null;
  readonly isStoreAway: boolean;
}

export const live = cell<Live>({ state: "connecting", overview: null, isStoreAway: false });
/** Operations that changed, as they do. */
export const changedOperations = cell<readonly Operation[]>([]);
/** What this page saw since it was opened, each second. */
export const samples = new Samples();

export function useLive(): Live {
  return useCell(live);
}

let stream: EventSource | null = null;
let poll: ReturnType<typeof setTimeout> | null = null;
let heardAt = 0;
let polledSince: number | null = null;
let isStarted = false;

export function startLive(): void {
  if (isStarted) return;
  isStarted = true;
  isVisible.listen(follow);
  isFrozen.listen(follow);
  setInterval(notice, 2_000);
  follow();
}

export function stopLive(): void {
  isStarted = false;
  disconnect();
}

function follow(): void {
  disconnect();
  if (!isStarted) return;
  if (isFrozen.get()) return note({ state: "frozen" });
  if (!isVisible.get()) return note({ state: "hidden" });
  connect();
}

function disconnect(): void {
  stream?.close();
  stream = null;
  if (poll) clearTimeout(poll);
  poll = null;
}

function connect(): void {
  heardAt = Date.now();
  const opened = new EventSource(pathOf("events"));
  stream = opened;
  opened.addEventListener("overview", (event) => {
    heardAt = Date.now();
    polledSince = null;
    take(JSON.parse((event as MessageEvent<string>).data) as Overview, "live");
  });
  opened.addEventListener("store", (event) => {
    heardAt = Date.now();
    const { isAway } = JSON.parse((event as MessageEvent<string>).data) as { isAway: boolean };
    note({ isStoreAway: isAway, state: "live" });
  });
  opened.addEventListener("operations", (event) => {
    const { items } = JSON.parse((event as MessageEvent<string>).data) as { items: Operation[] };
    changedOperations.set(items);
  });
  opened.addEventListener("error", () => {
    // Closed for good: refused, or no stream at all.
    if (opened.readyState === EventSource.CLOSED) startPolling();
  });
}

/** A proxy may hold a stream back without closing it. */
function notice(): void {
  if (!isStarted || isFrozen.get() || !isVisible.get()) return;
  const isAway = live.get().isStoreAway;
  if (stream && !isAway && Date.now() - heardAt > SILENT_MS) startPolling();
  if (polledSince !== null && Date.now() - polledSince > RETRY_MS) {
    polledSince = null;
    disconnect();
    connect();
  }
}

function startPolling(): void {
  disconnect();
  polledSince ??= Date.now();
  void pollOnce();
}

async function pollOnce(): Promise<void> {
  try {
    take(await api.overview(), "polling");
  } catch (error) {
    const isAway = (error as { status?: number }).status === 503;
    note(isAway ? { isStoreAway: true, state: "polling" } : { state: "unreachable" });
  }
  if (!isStarted || stream || isFrozen.get() || !isVisible.get()) return;
  poll = setTimeout(() => void pollOnce(), POLL_MS);
}

function take(overview: Overview, state: "live" | "polling"): void {
  if (isFrozen.get()) return;
  noteServerTime(overview.at);
  samples.add(overview, currentTime());
  note({ state, overview, isStoreAway: false });
}

function note(change: Partial<Live>): void {
  live.set({ ...live.get(), ...change });
}
