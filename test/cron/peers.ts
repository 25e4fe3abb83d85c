/** The two cron libraries of Node, asked for ticks the way we are. */
import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";

export interface Span {
  readonly after: number;
  readonly until: number;
  readonly limit: number;
}

/** Ticks after one instant and until another, at most `limit`; a text if the library refused. */
export type Peer = (expression: string, timeZone: string, span: Span) => readonly number[] | string;

export const PEERS = {
  croner(expression, timeZone, { after, until, limit }) {
    const cron = new Cron(expression, { timezone: timeZone });
    const ticks: number[] = [];
    let next = cron.nextRun(new Date(after));
    while (next !== null && next.getTime() <= until && ticks.length < limit) {
      ticks.push(next.getTime());
      next = cron.nextRun(next);
    }
    return ticks;
  },

  "cron-parser"(expression, timeZone, { after, until, limit }) {
    try {
      const from = { tz: timeZone, currentDate: new Date(after) };
      const cron = CronExpressionParser.parse(expression, from);
      const ticks: number[] = [];
      for (let next = cron.next().getTime(); next <= until; next = cron.next().getTime()) {
        if (ticks.push(next) >= limit) break;
      }
      return ticks;
    } catch (error) {
      return String(error);
    }
  },
} as const satisfies Record<string, Peer>;

export type PeerName = keyof typeof PEERS;
export const PEER_NAMES = Object.keys(PEERS) as PeerName[];
