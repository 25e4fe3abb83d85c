/** Rejects with what `onLate` answers if the promise has not settled in time. For every store on a server. */
export async function withDeadline<T>(
  promise: Promise<T>,
  deadlineMs: number,
  onLate: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onLate()), deadlineMs);
  });
  // If it is late, nobody waits for what becomes of it.
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
