/** One contract, two sides: what they share. */
import { defineJob } from "holdfast";
import { z } from "zod";

export const sendEmail = defineJob({
  type: "email.send",
  queue: "mail",
  payload: z.object({ to: z.string(), subject: z.string() }),
  result: z.object({ messageId: z.string() }),
  retry: { maxAttempts: 5 },
});
