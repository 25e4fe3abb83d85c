import { cleanText } from "./text.ts";
import { JobNotFoundError } from "./errors.ts";

/** The same words wherever a job is looked for and is not there. */
export function jobNotFound(id: string): JobNotFoundError {
  return new JobNotFoundError(`there is no job ${cleanText(id, 64)}: was it removed or pruned?`);
}
