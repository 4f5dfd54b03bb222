/**
 * Resolves as `work` does, or after `ms` milliseconds as `late` does. Work that is late goes on by itself, and its outcome is dropped.
 *
 *     await inTime(work, 2000, () => 'no answer')
 *     await inTime(work, 2000, () => { throw new Error('no answer'); })
 *
 * An answer that came while this process was busy is not late: the network is read once more before the time is up.
 */
export async function inTime<Result, Late>(
  work: Promise<Result>,
  ms: number,
  late: () => Late,
): Promise<Result | Awaited<Late>> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve), ms);
  });
  return Promise.race([work, over.then(late)]).finally(() => clearTimeout(timer));
}
