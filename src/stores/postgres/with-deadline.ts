/** Rejects with what `onLate` answers if the promise has not settled by then. */
export async function withDeadline<T>(
  promise: Promise<T>,
  deadlineAt: number,
  onLate: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onLate()), Math.max(0, deadlineAt - performance.now()));
  });
  // If it is late, nobody waits for what becomes of it.
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
