/** Says how far a run got: what was drawn after that has nothing to do with the failure. */
export class FailedStep extends Error {
  override readonly name = "FailedStep";
  readonly index: number;

  private constructor(index: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.index = index;
  }

  static async at(index: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new FailedStep(index, error);
    }
  }
}
