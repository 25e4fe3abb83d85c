/** Of answers that overtake each other, the one that was asked for last: what was asked before it says nothing new. */
export class NewestAnswer {
  #asked = 0;
  #heard = 0;

  /** Call it before a question, and what it returns once the answer is there. False: a later one is known already. */
  ask(): () => boolean {
    const own = (this.#asked += 1);
    return () => {
      if (own < this.#heard) return false;
      this.#heard = own;
      return true;
    };
  }

  /** It is known now without a question: what is on its way is old. */
  know(): void {
    this.#heard = this.#asked += 1;
  }
}
