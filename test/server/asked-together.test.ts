/** What many ask for at once is asked of the store once. */
import { expect, it } from "vitest";
import { SharedReads } from "../../packages/server/src/shared-reads.ts";

it("those who ask together wait for one answer, and for none that takes long", async () => {
  let at = 0;
  const reads = new SharedReads(() => at);
  const answers: ((answer: number) => void)[] = [];
  const ask = () => new Promise<number>((resolve) => answers.push(resolve));
  const first = Array.from({ length: 100 }, () => reads.together("ping", ask));
  expect(answers).toHaveLength(1);
  answers[0]?.(1);
  expect(new Set(await Promise.all(first))).toEqual(new Set([1]));
  const slow = reads.together("ping", ask);
  expect(answers).toHaveLength(2);
  at = 2_000;
  const next = reads.together("ping", ask);
  expect(answers).toHaveLength(3);
  for (const answer of answers) answer(2);
  expect(await Promise.all([slow, next])).toEqual([2, 2]);
});
