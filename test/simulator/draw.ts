/**
 * Chance, in words. Each part of a simulation draws from a stream of its own, made from the seed and
 * the part's name: a new draw in one part leaves the others as they were, so seeds stay meaningful.
 */
import { seededRandom, type Random } from "../../packages/holdfast/src/testing/seeded-random.ts";

export class Draw {
  readonly random: Random;

  constructor(seed: number, part: string) {
    let mixed = seed >>> 0;
    for (const char of part) mixed = Math.imul(mixed ^ char.charCodeAt(0), 0x01000193) >>> 0;
    this.random = seededRandom(mixed);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** A whole number; both ends are possible. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1));
  }

  between(min: number, max: number): number {
    return min + this.random() * (max - min);
  }

  /** Evenly spread over orders of magnitude: 1 to 1,000 is as often below 32 as above. */
  magnitude(min: number, max: number): number {
    return min * (max / min) ** this.random();
  }

  /** A wait of this length on average, seldom much longer: how unrelated events arrive. */
  wait(meanMs: number): number {
    return -Math.log(1 - this.random()) * meanMs;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("nothing to pick from");
    return items[Math.floor(this.random() * items.length)] as T;
  }

  weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.findLast(([, weight]) => weight > 0)?.[0] ?? entries[0]![0];
  }
}
