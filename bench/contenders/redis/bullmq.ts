/** BullMQ 6 on Redis, through ioredis, which is its default. */
import type { Contender } from "../../contender.ts";
import { BULLMQ_SETUP, type BullmqClasses, bullmqSession } from "../bullmq.ts";
import { load, missingPackages } from "../peer-packages.ts";
import { describeRedis } from "./facts.ts";

export const bullmqRedis: Contender = {
  name: "bullmq",
  setup: BULLMQ_SETUP,
  missing: () => missingPackages("bullmq"),
  async open(place) {
    const classes = (await load("bullmq")) as BullmqClasses;
    const { hostname, port, pathname } = new URL(place);
    const connection = { host: hostname, port: Number(port), db: Number(pathname.slice(1)) };
    const session = await bullmqSession(classes, connection);
    return { ...session, describe: () => describeRedis(place) };
  },
};
