import { describe, expect, it } from "vitest";
import { Numbers, STOCK_MS, type Reserved } from "./numbers.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const USUAL = { deadlineMs: 1_000, keepsStock: true };

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

  it("come from a stock once inserts follow each other at once", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask });
    const firsts = await insertInARow(numbers, Array(30).fill(5));
    expect(firsts).toEqual(Array.from({ length: 30 }, (_, index) => 1 + 5 * index));
    // The next stock is asked for while the first has some left.
    expect(asked).toEqual([5, 5, 5, 20, 40, 80]);
  });

  it("of a stock are left out if more are wanted than it has", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask });
    expect(await insertInARow(numbers, [5, 5, 5, 5, 16])).toEqual([1, 6, 11, 16, 36]);
    expect(asked).toEqual([5, 5, 5, 20, 40]);
  });

  it("of a stock are good for some milliseconds", async () => {
    let ms = 0;
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask, elapsed: () => ms });
    await insertInARow(numbers, [5, 5, 5, 5]);
    ms += STOCK_MS + 1;
    const others = await ask(1);
    const [first] = await insertInARow(numbers, [5]);
    expect(first).toBeGreaterThan(others.first);
    expect(asked).toEqual([5, 5, 5, 20, 1, 10]);
  });

  it("are as many in a stock as were used of the last one, and some more", async () => {
    let ms = 0;
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask, elapsed: () => ms });
    await insertInARow(numbers, Array(3).fill(100));
    for (let inserts = 0; inserts < 100; inserts++) {
      await insertInARow(numbers, [100]);
      ms += 10;
    }
    // Five or six inserts fall into the time of a stock.
    const sizes = asked.slice(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(800);
    expect(sizes.at(-1)).toBeGreaterThanOrEqual(500);
  });

  it("of a stock come with the time that has passed since", async () => {
    let ms = 0;
    const numbers = new Numbers({ ...USUAL, ...server(), elapsed: () => ms });
    await insertInARow(numbers, [5, 5, 5, 5]);
    const said = 15 + 20;
    ms += 7.9;
    expect((await numbers.forInsert(5)).now).toBe(said + 7);
  });

  it("of a stock are not used after a pause", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask, elapsed: () => 0 });
    await insertInARow(numbers, [5, 5, 5, 5]);
    for (let turns = 0; turns < 3; turns++) await turn();
    const others = await ask(1);
    expect((await numbers.forInsert(5)).first).toBeGreaterThan(others.first);
    expect(asked).toEqual([5, 5, 5, 20, 1, 5]);
  });

  it("of a stock never come behind others of the same process", async () => {
    const { ask } = server();
    const numbers = new Numbers({ ...USUAL, ask, elapsed: () => 0 });
    await insertInARow(numbers, [5, 5, 5, 5]);
    const { first: own } = await numbers.reserve(1);
    const [first] = await insertInARow(numbers, [5]);
    expect(first).toBeGreaterThan(own);
  });

  it("of a stock that cannot be had ahead are asked for again", async () => {
    const { ask, asked } = server();
    const away = new Error("away");
    const numbers = new Numbers({
      ...USUAL,
      ask: async (count) => {
        if (asked.length !== 4) return ask(count);
        asked.push(count);
        throw away;
      },
    });
    const firsts = await insertInARow(numbers, Array(30).fill(5));
    expect(firsts.slice(-2)).toEqual([141, 146]);
    expect(asked).toEqual([5, 5, 5, 20, 40, 40, 80]);
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

  it("are never kept where the clock is moved by hand", async () => {
    const { ask, asked } = server();
    const numbers = new Numbers({ ...USUAL, ask, keepsStock: false });
    await insertInARow(numbers, [5, 5, 5, 5]);
    expect(asked).toEqual([5, 5, 5, 5]);
  });
});
