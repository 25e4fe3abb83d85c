/** A promise that knows whether any code listens to it. `await` listens, too. */
export class Heard<Out> extends Promise<Out> {
  isHeard = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise already is one; this only takes note
  override then<Yes = Out, No = never>(
    onYes?: ((value: Out) => Yes | PromiseLike<Yes>) | null,
    onNo?: ((reason: unknown) => No | PromiseLike<No>) | null,
  ): Promise<Yes | No> {
    this.isHeard = true;
    return super.then(onYes, onNo);
  }
}

/** Ends as `asked` does, and a failure that nobody listens to does not end the process. */
export function heard<Out>(asked: Promise<Out>): Heard<Out> {
  const answer = new Heard<Out>((resolve, reject) => void asked.then(resolve, reject));
  // Past the override: this is not the caller's ear.
  void Promise.prototype.then.call(answer, ignore, ignore);
  return answer;
}

function ignore(): void {}
