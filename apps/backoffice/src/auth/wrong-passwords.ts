/** Counts logins that went wrong, by account and by address, so that a guesser has to wait. */

const WITHIN_MS = 60_000;
/** Of one account, from wherever; the sixth within a minute is not looked at. */
const MOST_OF_ACCOUNT = 5;
/** Of one address, at whatever accounts. */
const MOST_OF_ADDRESS = 20;
/** Then the oldest are forgotten: memory stays small under a flood of names. */
const MOST_KEYS = 10_000;

export class WrongPasswords {
  readonly #now: () => number;
  readonly #times = new Map<string, number[]>();

  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  /**
   * Takes a place before the password is looked at, so that a hundred at once do not all get in. Answers
   * milliseconds to wait, or null: go on.
   */
  begin(account: string, address: string): number | null {
    const waits = [
      this.#wait(`account ${account}`, MOST_OF_ACCOUNT),
      this.#wait(`address ${address}`, MOST_OF_ADDRESS),
    ].filter((wait) => wait !== null);
    if (waits.length > 0) return Math.max(...waits);
    for (const key of [`account ${account}`, `address ${address}`]) this.#add(key);
    return null;
  }

  /** The password was right: its place is free again. */
  right(account: string, address: string): void {
    this.#times.delete(`account ${account}`);
    this.#times.get(`address ${address}`)?.pop();
  }

  #wait(key: string, most: number): number | null {
    const recent = this.#recent(key);
    const [oldest] = recent;
    return recent.length < most || oldest === undefined ? null : oldest + WITHIN_MS - this.#now();
  }

  #recent(key: string): number[] {
    const since = this.#now() - WITHIN_MS;
    return (this.#times.get(key) ?? []).filter((at) => at > since);
  }

  #add(key: string): void {
    const recent = [...this.#recent(key), this.#now()];
    this.#times.delete(key);
    this.#times.set(key, recent);
    const [first] = this.#times.keys();
    if (this.#times.size > MOST_KEYS && first !== undefined) this.#times.delete(first);
  }
}
