/** The queue of system 1. Read when the code is loaded, because decorators and contracts need it then. */
import { DEFAULT_QUEUE } from "../config/settings.ts";

const given = process.env["WORKER_QUEUE_NAME"]?.trim();

export const CFO_QUEUE = given === undefined || given === "" ? DEFAULT_QUEUE : given;
