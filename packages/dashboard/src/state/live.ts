/**
 * The overview, live: by one stream of events, by asking every few seconds where a stream does not come through.
 * A hidden tab and a frozen page listen to nothing.
 */
import { api, pathOf } from "../api/client.ts";
import type { Overview } from "../api/types.ts";
import { cell, useCell } from "./cell.ts";
import { currentTime, noteServerTime } from "./clock.ts";
import { Samples } from "./samples.ts";
import { isFrozen, isVisible } from "./visible.ts";

const POLL_MS = 4_000;
/** A stream that says nothing for so long does not come through. */
const SILENT_MS = 8_000;
/** While the store is away it has nothing to say; but the connection may be lost then as well. */
const SILENT_AWAY_MS = 60_000;
/** After so long a stream is tried again. */
const RETRY_MS = 60_000;

export interface Live {
  /** What is shown in the header. */
  readonly state: "connecting" | "live" | "polling" | "hidden" | "frozen" | "unreachable";
  readonly overview: Overview | null;
  readonly isStoreAway: boolean;
}

const NOTHING: Live = { state: "connecting", overview: null, isStoreAway: false };

export const live = cell<Live>(NOTHING);
/** What this page saw since it was opened, each second. */
export const samples = new Samples();

export function useLive(): Live {
  return useCell(live);
}

let stream: EventSource | null = null;
/** Aborted: whoever asks by turns asks no more, and what still comes is not taken. */
let polling: AbortController | null = null;
let heardAt = 0;
let polledSince: number | null = null;
let noticing: ReturnType<typeof setInterval> | null = null;

export function startLive(): void {
  if (noticing !== null) return;
  noticing = setInterval(notice, 2_000);
  isVisible.listen(follow);
  isFrozen.listen(follow);
  follow();
}

/** The next who logs in here may see less. */
export function stopLive(): void {
  if (noticing !== null) clearInterval(noticing);
  noticing = null;
  disconnect();
  live.set(NOTHING);
  samples.forget();
}

function follow(): void {
  disconnect();
  if (noticing === null) return;
  if (isFrozen.get()) return note({ state: "frozen" });
  if (!isVisible.get()) return note({ state: "hidden" });
  note({ state: "connecting" });
  connect();
}

function disconnect(): void {
  stream?.close();
  stream = null;
  polling?.abort();
  polling = null;
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
  opened.addEventListener("error", () => {
    // Closed for good: refused, or no stream at all.
    if (opened.readyState === EventSource.CLOSED) startPolling();
  });
}

/** A proxy may hold a stream back without closing it. */
function notice(): void {
  if (isFrozen.get() || !isVisible.get()) return;
  const patienceMs = live.get().isStoreAway ? SILENT_AWAY_MS : SILENT_MS;
  if (stream && Date.now() - heardAt > patienceMs) startPolling();
  if (polledSince !== null && Date.now() - polledSince > RETRY_MS) {
    polledSince = null;
    disconnect();
    connect();
  }
}

function startPolling(): void {
  disconnect();
  polledSince ??= Date.now();
  polling = new AbortController();
  void pollUntil(polling.signal);
}

async function pollUntil(stopped: AbortSignal): Promise<void> {
  try {
    const overview = await api.overview(stopped);
    if (stopped.aborted) return;
    take(overview, "polling");
  } catch (error) {
    if (stopped.aborted) return;
    const isAway = (error as { status?: number }).status === 503;
    note(isAway ? { isStoreAway: true, state: "polling" } : { state: "unreachable" });
  }
  const timer = setTimeout(() => void pollUntil(stopped), POLL_MS);
  stopped.addEventListener("abort", () => clearTimeout(timer), { once: true });
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
