import { describe, expect, it } from "vitest";
import { Numbers, type Reserved } from "./numbers.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const USUAL = { deadlineMs: 1_000, looksAhead: true };

interface Server {
  readonly asked: number[];
  readonly ask: (count: number) => Promise<Reserved>;
}

/** Hands out numbers, and takes a turn for it. */
function server(): Server {
  const asked: number[] = [];
  let last = 0;
  return {
    asked,
    ask: async (count) => {
      asked.push(count);
      const first = last + 1;
      last += count;
      await turn();
      return { first, now: last, bounds: "" };
    },
  };
}

/** Inserts so many at a time, each as soon as the one before is done; answers their first numbers. */
async function insertInARow(numbers: Numbers, counts: readonly number[]): Promise<number[]> {
  const firsts: number[] = [];
  for (const count of counts) {
    const { first, inserted } = await numbers.forInsert(count);
    firsts.push(first);
    await turn();
    inserted();
  }
  return firsts;
}

describe("the numbers of new jobs", () => {
  it("come in the order in which they were asked for", async () => {
    const { ask } = server();
    const numbers = new Numbers({ ...USUAL, ask });
    const [a, b, c] = [numbers.reserve(3), numbers.forInsert(2), numbers.reserve(1)];
    expect((await Promise.all([a, b, c])).map(({ first }) => first)).toEqual([1, 4, 6]);
  });

  it("are asked for ahead once inserts follow each other at once", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask });
    expect(await insertInARow(numbers, [5, 5, 5, 5, 5])).toEqual([1, 6, 11, 16, 26]);
    expect(asked).toEqual([5, 5, 5, 10, 10, 10]);
  });

  it("are asked for again if more are wanted than were expected", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask });
    expect(await insertInARow(numbers, [5, 5, 5, 11])).toEqual([1, 6, 11, 26]);
    expect(asked).toEqual([5, 5, 5, 10, 11, 22]);
  });

  it("that were asked for ahead are good for this turn only", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask });
    await insertInARow(numbers, [5, 5, 5]);
    for (let turns = 0; turns < 3; turns++) await turn();
    const others = await ask(1);
    const { first } = await numbers.forInsert(5);
    expect(first).toBeGreaterThan(others.first);
    expect(asked).toEqual([5, 5, 5, 10, 1, 5]);
  });

  it("that cannot be had ahead are asked for again", async () => {
    const { ask, asked } = server();
    const away = new Error("away");
    const isAhead = (): boolean => asked.length === 3;
    const numbers = new Numbers({
      ...USUAL,
      ask: async (count) => {
        if (!isAhead()) return ask(count);
        asked.push(count);
        throw away;
      },
    });
    expect(await insertInARow(numbers, [5, 5, 5, 5])).toEqual([1, 6, 11, 16]);
  });

  it("that never come keep only those waiting who asked for them", async () => {
    const { ask, asked } = server();
    const hanging = new Promise<never>(() => {});
    const isFirst = (): boolean => asked.length === 0;
    const numbers = new Numbers({
      ...USUAL,
      deadlineMs: 20,
      ask: (count) => {
        if (!isFirst()) return ask(count);
        asked.push(count);
        return hanging;
      },
    });
    const [never, next] = [numbers.reserve(1), numbers.forInsert(2)];
    await expect(never).rejects.toMatchObject({ mayHaveHappened: false });
    expect(await next).toMatchObject({ first: 1 });
  });

  it("are never asked for ahead where the clock is moved by hand", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask, looksAhead: false });
    await insertInARow(numbers, [5, 5, 5, 5]);
    expect(asked).toEqual([5, 5, 5, 5]);
  });
});
