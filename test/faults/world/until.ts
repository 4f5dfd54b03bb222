const POLL_MS = 25;

/** Waits for a fact. A question that fails is asked again. @throws Error that says what did not come to be, and why */
export async function until(what: string, holds: () => Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      if (await holds()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadlineMs)
      throw new Error(`not within ${timeoutMs} ms: ${what}`, last === undefined ? {} : { cause: last });
    await sleep(POLL_MS);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
